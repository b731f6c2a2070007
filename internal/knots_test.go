package internal_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// largestKnot is how many files of a package may form a knot.
const largestKnot = 6

// A knot is a strongly connected component of a package's files, where a file is connected
// to those that declare the package-level names and the methods that it uses. To understand one
// file of a knot, a reader has to understand all of them.
func TestKnotsStayWithinLimit(t *testing.T) {
	t.Parallel()
	knots := knotsOf(t, "./domain/...", "./web/...", "./app/...", "./job/...", "./deliver/...")
	for pkg, files := range knots {
		if len(files) > largestKnot {
			t.Errorf("%s: a knot of %d files, at most %d are allowed: %s", pkg, len(files), largestKnot, strings.Join(files, " "))
		}
	}
}

func TestKnotsOfFilesAreFound(t *testing.T) {
	t.Parallel()
	uses := map[string][]string{"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}
	if got := knot(uses); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("found %v, want a, b and c", got)
	}
	if got := knot(map[string][]string{"a": {"b"}, "b": nil}); len(got) != 1 {
		t.Errorf("found %v, want single files only", got)
	}
}

// knotsOf returns the files of the largest knot of each package.
func knotsOf(t *testing.T, patterns ...string) map[string][]string {
	t.Helper()
	knots := make(map[string][]string)
	for _, p := range typeCheck(t, patterns...) {
		knots[strings.TrimPrefix(p.Path(), module+"/")] = knot(fileUses(p.fset, p.Package, p.info))
	}
	return knots
}

// checkedPackage is a package whose types were checked.
type checkedPackage struct {
	*types.Package

	fset *token.FileSet
	info *types.Info
}

// typeCheck checks types against the compiler's export data, which the build cache has.
func typeCheck(t *testing.T, patterns ...string) []checkedPackage {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}\t{{.Dir}}\t{{.GoFiles}}\t{{.DepOnly}}"}, patterns...)...).Output()
	if err != nil {
		t.Fatalf("list the packages: %v", err)
	}
	exports := make(map[string]string)
	type listed struct {
		path, dir string
		files     []string
	}
	var packages []listed
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		exports[f[0]] = f[1]
		if f[4] == "false" {
			packages = append(packages, listed{f[0], f[2], strings.Fields(strings.Trim(f[3], "[]"))})
		}
	}
	fset := token.NewFileSet()
	compiled := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var all []checkedPackage
	for _, p := range packages {
		var files []*ast.File
		for _, name := range p.files {
			file, err := parser.ParseFile(fset, filepath.Join(p.dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		info := &types.Info{Uses: make(map[*ast.Ident]types.Object)}
		pkg, err := (&types.Config{Importer: compiled}).Check(p.path, fset, files, info)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, checkedPackage{pkg, fset, info})
	}
	return all
}

// fileUses returns, by file of a package, the other files that it uses. Fields do not count.
func fileUses(fset *token.FileSet, pkg *types.Package, info *types.Info) map[string][]string {
	uses := make(map[string][]string)
	for id, used := range info.Uses {
		if v, ok := used.(*types.Var); ok && v.IsField() {
			continue
		}
		if f, ok := used.(*types.Func); ok {
			used = f.Origin()
		}
		method := false
		if f, ok := used.(*types.Func); ok {
			method = f.Signature().Recv() != nil
		}
		if used.Pkg() != pkg || used.Parent() != pkg.Scope() && !method {
			continue
		}
		from, to := filepath.Base(fset.Position(id.Pos()).Filename), filepath.Base(fset.Position(used.Pos()).Filename)
		if from != to && !slices.Contains(uses[from], to) {
			uses[from] = append(uses[from], to)
		}
		if _, known := uses[to]; !known {
			uses[to] = nil
		}
	}
	return uses
}

// knot returns the largest strongly connected component of a graph, by Tarjan's algorithm.
func knot(uses map[string][]string) []string {
	var largest, stack []string
	index, low := make(map[string]int), make(map[string]int)
	var visit func(string)
	visit = func(file string) {
		index[file] = len(index) + 1
		low[file] = index[file]
		stack = append(stack, file)
		for _, to := range uses[file] {
			if index[to] == 0 {
				visit(to)
				low[file] = min(low[file], low[to])
			} else if slices.Contains(stack, to) {
				low[file] = min(low[file], index[to])
			}
		}
		if low[file] != index[file] {
			return
		}
		from := slices.Index(stack, file)
		if found := stack[from:]; len(found) > len(largest) {
			largest = slices.Sorted(slices.Values(found))
		}
		stack = stack[:from]
	}
	for file := range uses {
		if index[file] == 0 {
			visit(file)
		}
	}
	return largest
}
