package internal_test

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/perennialhq/perennial"

// row says what the packages in a folder may import. Folders are written below
// the module's root; "x/..." is x and everything below it. A package may always
// import the standard library, and a row with several packages its own ones
// only if it names them.
type row struct {
	of    string
	may   []string // packages of this module
	libs  []string // other modules' packages, by the start of their path
	tests []string // packages of this module that its tests may import too
	not   []string // packages of the standard library that it must not import
}

// table is the architecture, from the bottom to the top. The first row that fits
// a package counts. docs/architecture.md says why.
var table = slices.Concat(
	[]row{
		{of: "internal/base/money", may: []string{"internal/base/..."}, libs: []string{"github.com/govalues/decimal"}},
		{of: "internal/base/locale/...", may: []string{"internal/base/..."}, libs: []string{"github.com/bojanz/currency", "golang.org/x/text"}},
		{of: "internal/base/...", may: []string{"internal/base/..."}},
		{of: "internal/config"},
		{of: "internal/liquid", may: []string{"internal/base/..."}},
		{of: "internal/tracing", may: []string{"internal/base/..."}, libs: []string{"go.opentelemetry.io/otel"}},

		{of: "internal/platform", may: []string{"internal/base/..."}},
		{of: "internal/platform/schema/...", libs: []string{"github.com/vektah/gqlparser/v2"}},
		{
			of:    "internal/platform/shopify/generate",
			may:   []string{"internal/platform/schema"},
			libs:  []string{"github.com/Khan/genqlient/generate"},
			tests: []string{"internal/platform/shopify/..."},
		},
		{
			of:    "internal/platform/shopify/...",
			may:   []string{"internal/base/...", "internal/platform", "internal/platform/schema", "internal/platform/shopify/...", "internal/tracing"},
			libs:  []string{"github.com/Khan/genqlient/graphql", "github.com/coreos/go-oidc/v3/oidc", "github.com/golang-jwt/jwt/v5", "github.com/vektah/gqlparser/v2", "golang.org/x/oauth2"},
			tests: []string{"internal/platform/..."},
		},
		{
			of:    "internal/platform/simulator/...",
			may:   []string{"internal/base/...", "internal/platform", "internal/platform/schema", "internal/platform/simulator/..."},
			libs:  []string{"github.com/govalues/decimal", "github.com/vektah/gqlparser/v2", "golang.org/x/sync", "modernc.org/sqlite"},
			tests: []string{"internal/platform/..."},
		},
		{of: "internal/platform/platformtest/...", may: []string{"internal/base/...", "internal/platform/..."}},
	},
	domainRows(),
	[]row{
		{of: "internal/browsertest/...", libs: []string{"github.com/chromedp/chromedp", "github.com/chromedp/cdproto"}},
		{of: "internal/pgtest/...", may: []string{"internal/pgtest/..."}, libs: []string{"github.com/jackc/pgx/v5", "github.com/peterldowns/pgtestdb"}},
		{
			of:    "internal/job/...",
			may:   []string{"internal/base/...", "internal/job/...", "internal/tracing"},
			libs:  []string{"github.com/riverqueue/river", "github.com/jackc/pgx/v5"},
			tests: []string{"internal/pgtest", "internal/store/..."},
		},
		{
			of:  "internal/store/storetest/...",
			may: []string{"internal/base/...", "internal/domain/...", "internal/job", "internal/platform", "internal/pgtest", "internal/store/..."},
		},
		{
			of:  "internal/store/...",
			may: []string{"internal/base/...", "internal/domain/...", "internal/job", "internal/platform", "internal/store/...", "internal/tracing"},
			libs: []string{
				"github.com/uptrace/bun", "github.com/jackc/pgx/v5", "modernc.org/sqlite", "github.com/pressly/goose/v3",
			},
			tests: []string{"internal/pgtest"},
		},
		{of: "internal/sweep/...", may: []string{"internal/base/...", "internal/domain/..."}},
		{of: "internal/deliver/...", may: []string{"internal/base/...", "internal/domain/..."}, libs: []string{"github.com/wneessen/go-mail"}},
		{of: "internal/peer", may: []string{"internal/base/...", "internal/domain/...", "internal/platform"}, libs: []string{"golang.org/x/time"}},
		{of: "internal/web/reference", libs: []string{"github.com/danielgtaylor/huma/v2"}},
		{
			of:    "internal/web",
			may:   []string{"internal/base/...", "internal/domain/...", "internal/tracing", "internal/web/reference"},
			libs:  []string{"github.com/danielgtaylor/huma/v2", "golang.org/x/time"},
			tests: []string{"internal/store/..."},
		},
		{
			of:  "internal/web/dashboard/dashboardtest",
			may: []string{"internal/base/...", "internal/domain/...", "internal/store/...", "internal/web", "internal/web/dashboard/..."},
		},
		{
			of:    "internal/web/dashboard/roomtest",
			tests: []string{"internal/base/...", "internal/domain/...", "internal/store/...", "internal/web", "internal/web/dashboard/..."},
		},
		{of: "internal/web/htmx"},
		{
			of:  "internal/web/portal/portaltest",
			may: []string{"internal/base/...", "internal/domain/...", "internal/platform/...", "internal/store/...", "internal/web", "internal/web/portal/..."},
		},
		{
			of:    "internal/web/portal/roomtest",
			tests: []string{"internal/base/...", "internal/domain/...", "internal/store/...", "internal/web", "internal/web/portal/..."},
		},
		// Tests of the shells and rooms that need a store are in the two packages roomtest, so that the others link no database.
		{of: "internal/web/portal", may: []string{"internal/base/...", "internal/domain/...", "internal/web", "internal/web/htmx"}},
		{
			of:   "internal/web/portal/letters",
			may:  []string{"internal/base/...", "internal/domain/...", "internal/liquid", "internal/web", "internal/web/portal", "internal/web/portal/words"},
			libs: []string{"golang.org/x/net"},
		},
		{of: "internal/web/portal/...", may: []string{"internal/base/...", "internal/domain/...", "internal/web", "internal/web/portal", "internal/web/portal/words"}},
		{of: "internal/web/dashboard", may: []string{"internal/base/...", "internal/domain/...", "internal/web", "internal/web/htmx"}},
		{
			of:   "internal/web/dashboard/...",
			may:  []string{"internal/base/...", "internal/domain/...", "internal/web", "internal/web/dashboard", "internal/web/dashboard/words"},
			libs: []string{"github.com/boombuler/barcode"},
		},
		{
			of:    "internal/web/...",
			may:   []string{"internal/base/...", "internal/domain/...", "internal/web/..."},
			libs:  []string{"github.com/danielgtaylor/huma/v2"},
			tests: []string{"internal/pgtest", "internal/platform/...", "internal/store/..."},
		},

		{of: "internal/app/...", may: []string{"..."}, libs: anyLibrary},
		{of: "internal/sandbox/...", may: []string{"..."}, libs: anyLibrary},
		{of: "internal/prove/oracle"},
		{of: "internal/prove/...", may: []string{"..."}, libs: anyLibrary},
		{of: "internal/clientgen", libs: []string{"github.com/getkin/kin-openapi"}},
		{of: "internal/release"},
		{of: "internal", may: []string{"..."}, libs: anyLibrary},
		{of: "cmd/...", may: []string{"..."}, libs: anyLibrary},
		{of: "test/...", may: []string{"..."}, libs: anyLibrary},
		{of: "api"},
		{of: "extensions", tests: []string{"internal/sandbox/storefront/theme"}},
	},
)

// domain lists the features from the lowest level to the highest. A feature may
// import those of lower levels, never one of its own.
var domain = [][]string{
	{"cadence"},
	{"dunning"},
	{"shop"},
	{"activity"},
	{"access", "connection", "optin", "plan", "wording"},
	{"contract", "idempotency", "partner", "requestlog"},
	{"swap", "bundle", "delivery", "notify", "membership"},
	{"order"},
	{"billing", "privacy"},
	{"analytics", "confirm", "intake", "loyalty", "repair", "support", "upcoming"},
	{"amend", "login", "webhook"},
	{"bulk", "mailtemplate", "portal", "staff"},
	{"savedview"},
	{"retention"},
	{"moving"},
}

// rooms lists the sub-packages of the features that have some, from the lowest level to
// the highest. A room may import its feature's root and rooms of lower levels, never one
// of its own; the root imports no room.
var rooms = map[string][][]string{
	"amend":     {{"terms"}, {"contractedit", "create", "split"}, {"lifecycle"}},
	"billing":   {{"decide", "annotate", "billingtest"}, {"queue"}, {"settlement"}, {"cases", "prepare"}, {"publish"}, {"charge", "command", "explain"}},
	"moving":    {{"archive", "here", "table"}, {"parts"}, {"mover"}},
	"portal":    {{"design", "overview"}},
	"retention": {{"flow"}, {"session"}, {"report", "sessiontest"}},
}

// domainLibraries are the libraries that one feature may import.
var domainLibraries = map[string][]string{
	"moving": {"golang.org/x/text"},
	"portal": {"golang.org/x/image"},
	"staff":  {"golang.org/x/crypto/argon2", "github.com/pquerna/otp"},
}

// anyLibrary permits every other module.
var anyLibrary = []string{""}

// testLibraries may be imported by every test and by every package that exists
// for tests.
var testLibraries = []string{
	"github.com/emersion/go-smtp", "github.com/miekg/dns", "github.com/getkin/kin-openapi", "github.com/google/go-cmp", "github.com/teambition/rrule-go",
	"pgregory.net/rapid", "github.com/vektah/gqlparser/v2",
}

// domainRows turns the levels of the domain into rows.
func domainRows() []row {
	var rows []row
	var below []string
	for _, level := range domain {
		for _, name := range level {
			rows = append(rows, featureRows(name, below)...)
		}
		for _, name := range level {
			below = append(below, "internal/domain/"+name+"/...")
		}
	}
	return rows
}

// domainTests are the features above that tests of a feature fill its store with.
var domainTests = map[string][]string{"notify": {"internal/domain/billing"}}

// featureRows returns the rows of a feature that may import the features below it.
func featureRows(name string, below []string) []row {
	folder := "internal/domain/" + name
	feature := row{
		may:   slices.Concat([]string{"internal/base/...", "internal/platform"}, below),
		libs:  append([]string{"golang.org/x/sync"}, domainLibraries[name]...),
		tests: append([]string{folder + "/...", "internal/platform/...", "internal/store/...", "internal/pgtest"}, domainTests[name]...),
		not:   []string{"net/http", "database/sql"},
	}
	levels, has := rooms[name]
	if !has {
		feature.of, feature.may = folder+"/...", append(feature.may, folder+"/...")
		return []row{feature}
	}
	root := feature
	root.of = folder
	rows := []row{root}
	lower := []string{folder}
	for _, level := range levels {
		for _, room := range level {
			r := feature
			r.of, r.may = folder+"/"+room+"/...", slices.Concat(feature.may, lower)
			rows = append(rows, r)
		}
		for _, room := range level {
			lower = append(lower, folder+"/"+room+"/...")
		}
	}
	return rows
}

// within reports whether pkg is named by pattern, a package or "folder/...".
func within(pkg, pattern string) bool {
	folder, all := strings.CutSuffix(pattern, "...")
	return pkg == pattern || all && (strings.HasPrefix(pkg+"/", folder))
}

// named reports whether one of the patterns names pkg.
func named(pkg string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return within(pkg, p) })
}

// begins reports whether pkg lies below one of the paths.
func begins(pkg string, paths []string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return p == "" || pkg == p || strings.HasPrefix(pkg, p+"/") })
}

// rowOf returns the row that fits a package.
func rowOf(pkg string) (row, bool) {
	i := slices.IndexFunc(table, func(r row) bool { return within(pkg, r.of) })
	if i < 0 {
		return row{}, false
	}
	return table[i], true
}

// forbidden says why a file of pkg must not import path, or "".
func forbidden(pkg, imported string, test bool) string {
	r, known := rowOf(pkg)
	if !known {
		return fmt.Sprintf("%s is not in the import table: give it a row in internal/arch_test.go and docs/architecture.md (a feature goes on its level of the domain, "+
			"an audience below internal/web, anything that knows them all into internal/app)", pkg)
	}
	helper := strings.HasSuffix(path.Base(pkg), "test")
	if own, ok := strings.CutPrefix(imported, module+"/"); ok {
		if own == pkg || named(own, r.may) || test && named(own, r.tests) {
			return ""
		}
		return fmt.Sprintf("%s must not import %s (its row allows %s)", pkg, own, strings.Join(r.may, ", "))
	}
	if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
		if !test && begins(imported, r.not) {
			return fmt.Sprintf("%s must not import %s: it belongs to the edges", pkg, imported)
		}
		return ""
	}
	if begins(imported, r.libs) || (test || helper) && begins(imported, testLibraries) {
		return ""
	}
	return fmt.Sprintf("%s must not import the library %s (its row allows %s)", pkg, imported, strings.Join(r.libs, ", "))
}

// source is a Go file of the module.
type source struct {
	pkg  string // folder below the root
	name string // path below the root
	test bool
	ast  *ast.File
}

// sources parses the files that a build for this machine and for tests takes.
func sources(t *testing.T, fset *token.FileSet, mode parser.Mode) []source {
	t.Helper()
	const root = ".."
	var found []source
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipFolder(file, d.Name())
		}
		dir, base := filepath.Split(file)
		if filepath.Ext(base) != ".go" {
			return nil
		}
		if built, err := build.Default.MatchFile(dir, base); err != nil || !built {
			return err
		}
		parsed, err := parser.ParseFile(fset, file, nil, mode)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		found = append(found, source{pkg: path.Dir(rel), name: rel, test: strings.HasSuffix(base, "_test.go"), ast: parsed})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// skipFolder keeps the walk out of what is not the module's code.
func skipFolder(file, name string) error {
	if name == "testdata" || name != ".." && strings.HasPrefix(name, ".") {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(file, "go.mod")); err == nil && name != ".." {
		return fs.SkipDir
	}
	return nil
}

func TestPackagesImportOnlyWhatTheirRowAllows(t *testing.T) {
	t.Parallel()
	files := sources(t, token.NewFileSet(), parser.ImportsOnly)
	if len(files) < 20 {
		t.Fatalf("only %d files found: the walk looks in the wrong place", len(files))
	}
	for _, f := range files {
		for _, spec := range f.ast.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if why := forbidden(f.pkg, imported, f.test); why != "" {
				t.Errorf("%s: %s", f.name, why)
			}
		}
		if _, known := rowOf(f.pkg); !known && len(f.ast.Imports) == 0 {
			t.Errorf("%s: %s", f.name, forbidden(f.pkg, "", f.test))
		}
	}
}

// The features of the domain share their libraries, so that one of them has to import each.
func TestEveryAllowedLibraryIsImported(t *testing.T) {
	t.Parallel()
	type allowance struct{ of, lib string }
	unused := make(map[allowance]bool)
	group := func(of string) string {
		if strings.HasPrefix(of, "internal/domain/") {
			return "internal/domain/..."
		}
		return of
	}
	for _, r := range table {
		for _, lib := range r.libs {
			if lib != "" {
				unused[allowance{group(r.of), lib}] = true
			}
		}
	}
	for _, lib := range testLibraries {
		unused[allowance{"testLibraries", lib}] = true
	}
	for _, f := range sources(t, token.NewFileSet(), parser.ImportsOnly) {
		r, known := rowOf(f.pkg)
		if !known {
			continue // TestPackagesImportOnlyWhatTheirRowAllows reports it
		}
		for _, spec := range f.ast.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			for a := range unused {
				if (a.of == group(r.of) || a.of == "testLibraries") && begins(imported, []string{a.lib}) {
					delete(unused, a)
				}
			}
		}
	}
	for a := range unused {
		t.Errorf("no package of %s imports %s: remove the library from the table", a.of, a.lib)
	}
}

func TestOnlyClockReadsSystemTime(t *testing.T) {
	t.Parallel()
	fset := token.NewFileSet()
	for _, f := range sources(t, fset, parser.SkipObjectResolution) {
		if f.test || !strings.HasPrefix(f.name, "internal/") || f.pkg == "internal/base/clock" {
			continue
		}
		for _, at := range timeCalls(f.ast, "Now", "Since", "Until") {
			t.Errorf("%s: reads the system's clock: take an instant as an argument, or hold a clock.Clock", fset.Position(at))
		}
	}
}

func TestSleepIsOnlyInsideSynctest(t *testing.T) {
	t.Parallel()
	fset := token.NewFileSet()
	for _, f := range sources(t, fset, parser.SkipObjectResolution) {
		if !f.test || importsPackage(f.ast, "testing/synctest") {
			continue
		}
		for _, at := range timeCalls(f.ast, "Sleep") {
			t.Errorf("%s: sleeps: wait for what the test waits for, or use testing/synctest", fset.Position(at))
		}
	}
}

// importsPackage reports whether a file imports a package.
func importsPackage(file *ast.File, imported string) bool {
	return slices.ContainsFunc(file.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == strconv.Quote(imported) })
}

// timeCalls returns where a file mentions one of the named functions of package
// time, called or as a value.
func timeCalls(file *ast.File, names ...string) []token.Pos {
	local := ""
	for _, spec := range file.Imports {
		if spec.Path.Value != `"time"` {
			continue
		}
		if local = "time"; spec.Name != nil {
			local = spec.Name.Name
		}
	}
	var found []token.Pos
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		of, ok := sel.X.(*ast.Ident)
		if ok && local != "" && of.Name == local && slices.Contains(names, sel.Sel.Name) {
			found = append(found, sel.Pos())
		}
		return true
	})
	return found
}
