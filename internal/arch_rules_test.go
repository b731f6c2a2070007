package internal_test

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// The table is held to what it is meant to say, so that a row that became too
// wide is noticed.
func TestImportTableRefusesForbiddenImports(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		pkg      string
		imported string
		test     bool
		want     string // part of the reason; "": allowed
	}{
		{name: "a feature may use the platform's port", pkg: "internal/domain/billing", imported: module + "/internal/platform"},
		{name: "a feature may not know the real client", pkg: "internal/domain/billing", imported: module + "/internal/platform/shopify", want: "must not import internal/platform/shopify"},
		{name: "a feature may use a lower one", pkg: "internal/domain/billing", imported: module + "/internal/domain/contract"},
		{name: "a feature may not use a higher one", pkg: "internal/domain/contract", imported: module + "/internal/domain/billing", want: "must not import internal/domain/billing"},
		{name: "a room may use a lower one", pkg: "internal/domain/billing/charge", imported: module + "/internal/domain/billing/settlement"},
		{name: "a room may not use a higher one", pkg: "internal/domain/billing/queue", imported: module + "/internal/domain/billing/charge", want: "must not import internal/domain/billing/charge"},
		{name: "a room may not use one of its own level", pkg: "internal/domain/billing/explain", imported: module + "/internal/domain/billing/command", want: "must not import internal/domain/billing/command"},
		{name: "a feature may not use its rooms", pkg: "internal/domain/billing", imported: module + "/internal/domain/billing/decide", want: "must not import internal/domain/billing/decide"},
		{name: "a room's test may use every room", pkg: "internal/domain/billing/publish", imported: module + "/internal/domain/billing/charge", test: true},
		{name: "a higher feature may use a room", pkg: "internal/domain/amend", imported: module + "/internal/domain/billing/queue"},
		{name: "an unknown room is refused", pkg: "internal/domain/billing/attic", imported: "fmt", want: "is not in the import table"},
		{name: "a feature may not use one of its own level", pkg: "internal/domain/intake", imported: module + "/internal/domain/loyalty", want: "must not import internal/domain/loyalty"},
		{name: "a room may use its feature's root", pkg: "internal/domain/amend/split", imported: module + "/internal/domain/amend"},
		{name: "a room may use a lower one", pkg: "internal/domain/amend/lifecycle", imported: module + "/internal/domain/amend/split"},
		{name: "a room may not use one of its own level", pkg: "internal/domain/amend/split", imported: module + "/internal/domain/amend/create", want: "must not import internal/domain/amend/create"},
		{name: "a feature's root uses no room", pkg: "internal/domain/amend", imported: module + "/internal/domain/amend/terms", want: "must not import internal/domain/amend/terms"},
		{name: "a room that is not listed is refused", pkg: "internal/domain/amend/other", imported: "fmt", want: "is not in the import table"},
		{name: "a feature does not speak HTTP", pkg: "internal/domain/access", imported: "net/http", want: "belongs to the edges"},
		{name: "a feature's test may", pkg: "internal/domain/access", imported: "net/http/httptest", test: true},
		{name: "a feature does not speak SQL", pkg: "internal/domain/billing", imported: "database/sql", want: "belongs to the edges"},
		{name: "nor to a driver", pkg: "internal/domain/billing", imported: "github.com/jackc/pgx/v5", want: "library github.com/jackc/pgx/v5"},
		{name: "nor to the queue", pkg: "internal/domain/billing", imported: "github.com/riverqueue/river", want: "library github.com/riverqueue/river"},
		{name: "a feature does not know the store", pkg: "internal/domain/billing", imported: module + "/internal/store", want: "must not import internal/store"},
		{name: "a feature's test may use the store", pkg: "internal/domain/billing", imported: module + "/internal/store", test: true},
		{name: "nothing outside tests uses the simulator", pkg: "internal/web/admin", imported: module + "/internal/platform/simulator", want: "must not import"},
		{name: "the simulator shares no code with the client", pkg: "internal/platform/simulator", imported: module + "/internal/platform/shopify", want: "must not import"},
		{name: "the port does not know who keeps it", pkg: "internal/platform", imported: module + "/internal/platform/schema", want: "must not import"},
		{name: "handlers do not reach into the store", pkg: "internal/web/admin", imported: module + "/internal/store", want: "must not import internal/store"},
		{name: "handlers do not call the platform", pkg: "internal/web/inbound", imported: module + "/internal/platform", want: "must not import internal/platform"},
		{name: "what audiences share knows no audience", pkg: "internal/web", imported: module + "/internal/web/admin", want: "must not import internal/web/admin"},
		{name: "the pages of a reference know only the document", pkg: "internal/web/reference", imported: module + "/internal/domain/access", want: "must not import internal/domain/access"},
		{name: "jobs know no feature", pkg: "internal/job", imported: module + "/internal/domain/billing", want: "must not import"},
		{name: "base imports nothing above it", pkg: "internal/base/money", imported: module + "/internal/domain/shop", want: "must not import"},
		{name: "lists do not know the decimal library", pkg: "internal/base/page", imported: "github.com/govalues/decimal", want: "library"},
		{name: "the settings import no package of the service", pkg: "internal/config", imported: module + "/internal/base/fault", want: "must not import"},
		{name: "the program's frame knows all", pkg: "internal/app", imported: module + "/internal/store"},
		{name: "test libraries stay in tests", pkg: "internal/domain/cadence", imported: "pgregory.net/rapid", want: "library"},
		{name: "and are welcome there", pkg: "internal/domain/cadence", imported: "pgregory.net/rapid", test: true},
		{name: "a folder whose name merely begins alike is another one", pkg: "internal/application", imported: "fmt", want: "is not in the import table"},
		{name: "a package outside of the import table is named", pkg: "internal/helpers", imported: "fmt", want: "is not in the import table"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := forbidden(tt.pkg, tt.imported, tt.test)
			if tt.want == "" && got != "" || tt.want != "" && !strings.Contains(got, tt.want) {
				t.Errorf("%s importing %s: got %q, want %q", tt.pkg, tt.imported, got, tt.want)
			}
		})
	}
}

func TestTimeCallsAreFound(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, source string
		want         int
	}{
		{"a call", "package p\nimport \"time\"\nvar x = time.Now()", 1},
		{"the function as a value", "package p\nimport \"time\"\nvar now = time.Now", 1},
		{"through another name of the package", "package p\nimport clk \"time\"\nvar x = clk.Now()", 1},
		{"the ones that read it in passing", "package p\nimport \"time\"\nvar a, b = time.Since(z), time.Until(z)", 2},
		{"not another package's Now", "package p\nimport \"example.com/time\"\nvar x = time.Now()", 0},
		{"not what it was not asked for", "package p\nimport \"time\"\nvar x = time.Sleep", 0},
		{"not a method", "package p\nimport \"time\"\nvar x = clock.Now().Add(time.Hour)", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file, err := parser.ParseFile(token.NewFileSet(), "p.go", tt.source, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(timeCalls(file, "Now", "Since", "Until")); got != tt.want {
				t.Errorf("found %d, want %d", got, tt.want)
			}
		})
	}
}
