package test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/generated/interface.md and the golden files")

const (
	interfaceList  = "testdata/interface.txt"
	interfaceTable = "../docs/generated/interface.md"
)

// proofs is what the stories have seen of the interface.
var proofs ledger

// programFolder is where a soak test has built the program, or "".
var programFolder string

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	if proofs.rows, err = readInterface(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if programFolder != "" {
		_ = os.RemoveAll(programFolder)
	}
	if whole := flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == "" && !testing.Short(); code == 0 && whole {
		if err := proofs.settle(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// part is a piece of the interface: an operation, or a parameter or field of one.
type part struct {
	operation string // method and path
	kind      string // parameter, body or answer; empty: the operation itself
	name      string
}

// ledger says which tests saw a part work, and whether they saw a value in it.
type ledger struct {
	rows []part

	mutex sync.Mutex
	seen  map[part]map[string]bool // by test: whether a value was seen, and not only null
}

// readInterface reads the list of what must be there.
func readInterface() ([]part, error) {
	file, err := os.Open(interfaceList)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var rows []part
	var operation string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		switch text := lines.Text(); {
		case text == "" || text[0] == '#':
		case text[0] != ' ':
			operation = text
			rows = append(rows, part{operation: operation})
		default:
			kind, name, _ := strings.Cut(strings.TrimSpace(text), " ")
			rows = append(rows, part{operation, kind, name})
		}
	}
	return rows, nil
}

// note takes down what a successful request proves.
func (l *ledger) note(test, method string, u *url.URL, in, out []byte) {
	test, _, _ = strings.Cut(test, "/")
	operation, values := l.operation(method, u.Path)
	if operation == "" {
		return
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.seen == nil {
		l.seen = map[part]map[string]bool{}
	}
	saw := func(kind, name string, value bool) {
		p := part{operation, kind, name}
		if l.seen[p] == nil {
			l.seen[p] = map[string]bool{}
		}
		l.seen[p][test] = l.seen[p][test] || value
	}
	saw("", "", true)
	for name := range u.Query() {
		saw("parameter", name, true)
	}
	for _, name := range values {
		saw("parameter", name, true)
	}
	walk(in, func(name string, value bool) { saw("body", name, value) })
	walk(out, func(name string, value bool) { saw("answer", name, value) })
}

// operation finds the operation of a path, and the names in it. A path that is
// written out wins over one with names.
func (l *ledger) operation(method, path string) (found string, names []string) {
	for _, p := range l.rows {
		m, template, _ := strings.Cut(p.operation, " ")
		if p.kind != "" || m != method {
			continue
		}
		if is, ok := fits(template, path); ok && (found == "" || len(is) < len(names)) {
			found, names = p.operation, is
		}
	}
	return found, names
}

func fits(template, path string) (names []string, ok bool) {
	want, got := strings.Split(template, "/"), strings.Split(strings.TrimSuffix(path, "/"), "/")
	if len(want) != len(got) {
		return nil, false
	}
	for i, w := range want {
		if strings.HasPrefix(w, "{") {
			names = append(names, strings.Trim(w, "{}"))
		} else if w != got[i] {
			return nil, false
		}
	}
	return names, true
}

// walk visits every field of a JSON text. The elements of a list share a name.
func walk(text []byte, visit func(name string, value bool)) {
	var v any
	if json.Unmarshal(text, &v) != nil {
		return
	}
	var down func(prefix string, v any)
	down = func(prefix string, v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				down(prefix, e)
			}
		case map[string]any:
			for key, e := range v {
				name := strings.TrimPrefix(prefix+"."+key, ".")
				visit(name, e != nil)
				if _, list := e.([]any); list {
					name += "[]"
				}
				down(name, e)
			}
		}
	}
	down("", v)
}

// lastWitness is the test that sees nearly everything and says least about it.
const lastWitness = "TestEveryOperationKeepsItsDocument"

// prover returns the test that proves a part: the first by name that saw a value
// in it, else the first that saw it empty.
func (l *ledger) prover(p part) (test string, value, ok bool) {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(l.seen[p])), func(name string) bool { return name == lastWitness })
	if _, there := l.seen[p][lastWitness]; there {
		names = append(names, lastWitness)
	}
	for _, name := range names {
		if l.seen[p][name] {
			return name, true, true
		}
		if !ok {
			test, ok = name, true
		}
	}
	return test, false, ok
}

// settle compares the table in the repository with what the run has proved.
func (l *ledger) settle() error {
	var missing []string
	for _, p := range l.rows {
		if _, _, ok := l.prover(p); !ok {
			missing = append(missing, strings.Join(strings.Fields(p.operation+" "+p.kind+" "+p.name), " "))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("no test proves these parts of the interface:\n  %s", strings.Join(missing, "\n  "))
	}
	if *update {
		return os.WriteFile(interfaceTable, l.table(), 0o644)
	}
	text, err := os.ReadFile(interfaceTable)
	if err != nil {
		return err
	}
	return l.compare(string(text))
}

// table writes which test proves what.
func (l *ledger) table() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# The interface and what proves it\n\nMade by the run of the stories (`go test ./test -update`), which fails when a part has no proof any more. "+
		"A part is proved by the test that used it and was answered with success; (empty) says that the field was there and had no value, because nothing in a store gives it one yet.\n")
	for _, p := range l.rows {
		test, value, _ := l.prover(p)
		if !value {
			test += " (empty)"
		}
		if p.kind == "" {
			fmt.Fprintf(&b, "\n## %s\n\n| Part | Name | Proved by |\n| --- | --- | --- |\n| operation | | %s |\n", p.operation, test)
		} else {
			fmt.Fprintf(&b, "| %s | `%s` | %s |\n", p.kind, p.name, test)
		}
	}
	return []byte(b.String())
}

// compare checks that every row of the table is still true and none is missing.
func (l *ledger) compare(text string) error {
	stale := func(what string) error {
		return fmt.Errorf("%s is stale (%s): go test ./test -update", interfaceTable, what)
	}
	i := 0
	for _, line := range strings.Split(text, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.TrimSpace(cells[1]) == "Part" || strings.HasPrefix(strings.TrimSpace(cells[1]), "---") {
			continue
		}
		if i == len(l.rows) {
			return stale("it has more rows than the interface")
		}
		p := l.rows[i]
		i++
		kind, name := strings.TrimSpace(cells[1]), strings.Trim(cells[2], " `")
		if kind == "operation" {
			kind = ""
		}
		if kind != p.kind || name != p.name {
			return stale(fmt.Sprintf("row %q stands where %s %s of %s belongs", line, p.kind, p.name, p.operation))
		}
		test, empty := strings.CutSuffix(strings.TrimSpace(cells[3]), " (empty)")
		if value, ok := l.seen[p][test]; !ok || value == empty && !value {
			return stale(fmt.Sprintf("%s does not prove %s %s of %s", test, p.kind, p.name, p.operation))
		}
	}
	if i != len(l.rows) {
		return stale("rows are missing")
	}
	return nil
}
