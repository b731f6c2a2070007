package internal_test

import (
	"go/ast"
	"go/types"
	"regexp"
	"testing"
)

// mostMethods is how many methods one interface of a store may write out. Larger ones are
// made of roles.
const mostMethods = 8

var storeInterface = regexp.MustCompile(`(Tx|Store|Reader|Writer)$`)

func TestStoreInterfacesHaveFewMethods(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, p := range typeCheck(t, "./domain/...") {
		for _, name := range p.Scope().Names() {
			is, ok := p.Scope().Lookup(name).Type().Underlying().(*types.Interface)
			if !ok || !storeInterface.MatchString(name) {
				continue
			}
			checked++
			if n := is.NumExplicitMethods(); n > mostMethods {
				t.Errorf("%s.%s writes out %d methods, at most %d are allowed: make it of roles", p.Path(), name, n, mostMethods)
			}
		}
	}
	if checked < 50 {
		t.Errorf("found only %d interfaces", checked)
	}
}

// A function that only reads would take locks in Update, and the one writer of SQLite.
func TestTransactionsThatOnlyReadAreViews(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, p := range typeCheck(t, "./domain/...") {
		for call, fn := range updates(p) {
			reads, known := readsOnly(p, fn)
			if known {
				checked++
			}
			if reads {
				t.Errorf("%s: only reads: use View", p.fset.Position(call.Pos()))
			}
		}
	}
	if checked < 50 {
		t.Errorf("found only %d calls of Update", checked)
	}
}

// updates returns the calls of Update and the functions that they run.
func updates(p checkedPackage) map[*ast.CallExpr]*ast.FuncLit {
	found := make(map[*ast.CallExpr]*ast.FuncLit)
	for _, file := range p.files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			to, ok := call.Fun.(*ast.SelectorExpr)
			fn, literal := call.Args[len(call.Args)-1].(*ast.FuncLit)
			if ok && literal && to.Sel.Name == "Update" && len(fn.Type.Params.List) == 1 {
				found[call] = fn
			}
			return true
		})
	}
	return found
}

// readsOnly reports whether a function of a transaction does with it only what a ReadTx of
// the same package can do too, and whether there is a ReadTx.
func readsOnly(p checkedPackage, fn *ast.FuncLit) (reads, known bool) {
	param := fn.Type.Params.List[0]
	tx, ok := p.info.Types[param.Type].Type.(*types.Named)
	if !ok {
		return false, false
	}
	readTx := tx.Obj().Pkg().Scope().Lookup("ReadTx")
	if readTx == nil {
		return false, false
	}
	can := readTx.Type().Underlying().(*types.Interface)
	uses := make(map[*ast.Ident]bool) // of the transaction, and whether a ReadTx would do
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if len(param.Names) == 1 && p.info.Uses[n] == p.info.Defs[param.Names[0]] {
				if _, explained := uses[n]; !explained {
					uses[n] = false
				}
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				method, _, _ := types.LookupFieldOrMethod(can, false, nil, n.Sel.Name)
				uses[x] = method != nil
			}
		case *ast.CallExpr:
			signature, ok := p.info.Types[n.Fun].Type.(*types.Signature)
			for i, arg := range n.Args {
				if x, is := arg.(*ast.Ident); is && ok && i < signature.Params().Len() {
					uses[x] = types.AssignableTo(readTx.Type(), signature.Params().At(i).Type())
				}
			}
		}
		return true
	})
	for x, read := range uses {
		if p.info.Uses[x] == p.info.Defs[param.Names[0]] && !read {
			return false, true
		}
	}
	return true, true
}
