package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/portal"
)

// operatorDocs are what operators follow word for word.
var operatorDocs = []string{"operating.md", "metrics.md", "sandbox.md"}

func parserOf(t *testing.T) *kong.Kong {
	t.Helper()
	return parserInto(t, &cli{})
}

func parserInto(t *testing.T, c *cli) *kong.Kong {
	t.Helper()
	parser, err := kong.New(c, kong.Name("perennial"), kong.Configuration(loadSettings), kong.Vars{"mails": enumerated(notify.Kinds()), "sms": enumerated(notify.SMSKinds), "toggles": enumerated(portal.Toggles)}, kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}))
	if err != nil {
		t.Fatal(err)
	}
	return parser
}

func readDoc(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	fences    = regexp.MustCompile("(?ms)^```(?:sh|console)?\n(.*?)^```")
	spans     = regexp.MustCompile("`([^`\n]+)`")
	variables = regexp.MustCompile(`\bPERENNIAL_[A-Z]+(?:_[A-Z]+)*\b`)
	deployed  = regexp.MustCompile(`\bdeploy/[\w./-]*\w`)
	words     = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)
	comment   = regexp.MustCompile(`\s{2,}#.*|\s+\| .*`)
)

// commandsIn returns the commands of a document: lines of its examples, and code in its text
// that names a command with flags or arguments.
func commandsIn(text string) []string {
	var found []string
	for _, block := range fences.FindAllStringSubmatch(text, -1) {
		for line := range strings.SplitSeq(block[1], "\n") {
			line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
			if strings.HasPrefix(line, "perennial ") {
				found = append(found, comment.ReplaceAllString(line, ""))
			}
		}
	}
	for _, span := range spans.FindAllStringSubmatch(text, -1) {
		if strings.HasPrefix(span[1], "perennial ") {
			found = append(found, span[1])
		}
	}
	return found
}

// argumentsOf returns the arguments of a command as a shell would, with something in the
// place of what a reader has to fill in.
func argumentsOf(command string) []string {
	var list []string
	for _, word := range words.FindAllString(command, -1) {
		word = strings.Trim(word, `'"`)
		switch word {
		case "…":
			word = "https://x.example"
		case "ID", "ATTEMPT":
			word = "17"
		}
		list = append(list, word)
	}
	return list[1:]
}

// What operators copy from the documents is understood: a flag that was renamed or a
// command that was removed fails here.
func TestCommandsOfDocumentsParse(t *testing.T) {
	t.Parallel()
	for _, name := range operatorDocs {
		commands := commandsIn(readDoc(t, name))
		if len(commands) == 0 {
			t.Errorf("%s has no command", name)
		}
		for _, command := range commands {
			if strings.ContainsAny(command, "[(") { // an overview of flags
				continue
			}
			parser := parserOf(t)
			path, err := kong.Trace(parser, argumentsOf(command))
			if err != nil {
				t.Errorf("%s: %q: %v", name, command, err)
				continue
			}
			if path.Error != nil && !incomplete(path.Error) {
				t.Errorf("%s: %q: %v", name, command, path.Error)
			}
		}
	}
}

// incomplete reports whether an error says that a command was only named, without what it
// is about.
func incomplete(err error) bool {
	text := err.Error()
	return strings.HasPrefix(text, "missing") || strings.HasPrefix(text, "expected one of")
}

// Every variable of the documents is a setting, and every setting is in operating.md.
func TestVariablesOfDocumentsExist(t *testing.T) {
	t.Parallel()
	known := map[string]bool{} // whether it is shown
	var visit func(n *kong.Node)
	visit = func(n *kong.Node) {
		for _, flag := range n.Flags {
			for _, env := range flag.Envs {
				known[env] = !flag.Hidden
			}
		}
		for _, child := range n.Children {
			visit(child)
		}
	}
	visit(parserOf(t).Model.Node)
	for _, name := range operatorDocs {
		for _, v := range variables.FindAllString(readDoc(t, name), -1) {
			if _, ok := known[v]; !ok {
				t.Errorf("%s names %s, which is no setting", name, v)
			}
		}
	}
	text := readDoc(t, "operating.md")
	for v, shown := range known {
		if shown && strings.HasPrefix(v, "PERENNIAL_") && !strings.Contains(text, "`"+v+"`") {
			t.Errorf("operating.md does not explain %s", v)
		}
	}
	// In files to install, too.
	for _, file := range deployedFiles(t) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range variables.FindAllString(string(content), -1) {
			if _, ok := known[v]; !ok {
				t.Errorf("%s names %s, which is no setting", file, v)
			}
		}
	}
}

func deployedFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../deploy/*/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v: no files in deploy", err)
	}
	return append(files, "../../Containerfile")
}

// Every file in deploy that the documents name exists, and every one that exists is named.
func TestDeployedFilesAreDocumented(t *testing.T) {
	t.Parallel()
	text := readDoc(t, "operating.md") + readDoc(t, "metrics.md")
	for _, path := range deployed.FindAllString(text, -1) {
		if found, err := filepath.Glob(filepath.Join("../..", path) + "*"); err != nil || len(found) == 0 {
			t.Errorf("%s does not exist", path)
		}
	}
	for _, file := range deployedFiles(t) {
		if !strings.Contains(text, strings.TrimPrefix(filepath.ToSlash(file), "../../")) {
			t.Errorf("no document says what %s is for", file)
		}
	}
}
