package internal_test

import (
	"go/types"
	"strings"
	"testing"
)

// The domain calls what lies below it, and is called by web. An interface of the domain
// that a type of web has the methods of would turn that round.
func TestDomainDeclaresNoInterfaceThatWebImplements(t *testing.T) {
	t.Parallel()
	all := typeCheck(t, "./web/...")
	var interfaces []*types.TypeName
	seen := make(map[string]bool)
	for _, p := range all {
		for _, imported := range p.Imports() {
			if !strings.HasPrefix(imported.Path(), module+"/internal/domain/") || seen[imported.Path()] {
				continue
			}
			seen[imported.Path()] = true
			interfaces = append(interfaces, namedTypes(imported, true)...)
		}
	}
	if len(interfaces) < 20 {
		t.Fatalf("only %d interfaces of the domain found", len(interfaces))
	}
	for _, p := range all {
		for _, is := range namedTypes(p.Package, false) {
			for _, port := range interfaces {
				if i := port.Type().Underlying().(*types.Interface); i.NumMethods() > 0 && types.Implements(types.NewPointer(is.Type()), i) {
					t.Errorf("%s.%s implements %s.%s: app calls both instead", p.Path(), is.Name(), port.Pkg().Path(), port.Name())
				}
			}
		}
	}
}

// namedTypes returns the types that a package declares: its interfaces, or the others.
func namedTypes(p *types.Package, interfaces bool) []*types.TypeName {
	var list []*types.TypeName
	for _, name := range p.Scope().Names() {
		is, ok := p.Scope().Lookup(name).(*types.TypeName)
		if ok && types.IsInterface(is.Type()) == interfaces {
			list = append(list, is)
		}
	}
	return list
}
