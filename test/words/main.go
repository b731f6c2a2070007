// Command words finds phrases in comments, texts and documents that a reader would not
// search for, and says what to write in their place: the language of CONTRIBUTING.md.
//
//	go run ./test/words [file or folder …]
package main

import (
	"bytes"
	"context"
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// phrase is a way to say something that is not to be used, and the words to use.
type phrase struct {
	pattern *regexp.Regexp
	write   string
}

func phrases() []phrase {
	var list []phrase
	for _, p := range [][2]string{
		{`told|tell(?:s|ing)? of`, "report, notify or publish"},
		{`heard(?: of| from)?`, "received or recorded"},
		{`somebody|nobody|someone else|whoever|who does|whom`, "the actor by name: caller, client, operator, merchant, subscriber, node, worker, receiver"},
		{`of which`, "that, or a sentence of its own"},
		{`anew`, "again"},
		{`besides`, "also"},
		{`by itself|by themselves`, "automatically"},
		{`(?:is|are|was|were) to be`, "will be or must be"},
		{`named so|goes by the name`, "not found"},
		{`there is nothing at`, "no such path"},
		{`is packed`, "is compressed"},
		{`is entered`, "is authenticated"},
	} {
		list = append(list, phrase{regexp.MustCompile(`(?i)\b(?:` + strings.ReplaceAll(p[0], " ", `\s+`) + `)\b`), p[1]})
	}
	return list
}

func main() {
	files, err := listed(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(2)
	}
	list, found := phrases(), 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, "words:", err)
			os.Exit(2)
		}
		found += check(name, text, list)
	}
	if found > 0 {
		fmt.Printf("%d phrases to write in plain words (CONTRIBUTING.md, Language)\n", found)
		os.Exit(1)
	}
}

// listed returns the files under version control below the paths, all of them without one,
// save what is generated or quoted from elsewhere.
func listed(paths []string) ([]string, error) {
	out, err := exec.CommandContext(context.Background(), "git", append([]string{"ls-files", "--cached", "--others", "--exclude-standard", "--"}, paths...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("list the files under version control: %w", err)
	}
	var files []string
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		if strings.HasPrefix(name, "docs/generated/") || strings.HasPrefix(name, "test/words/") || strings.Contains(name, "testdata/") {
			continue
		}
		if _, err := os.Stat(name); err != nil { // deleted, not yet committed
			continue
		}
		switch filepath.Ext(name) {
		case ".go", ".md", ".html", ".txt":
			files = append(files, name)
		}
	}
	return files, nil
}

// check prints the phrases that a file has and returns their number.
func check(name string, text []byte, list []phrase) int {
	if filepath.Ext(name) != ".go" {
		return report(name, 1, string(text), list)
	}
	if bytes.Contains(text, []byte("\n// Code generated ")) || bytes.HasPrefix(text, []byte("// Code generated ")) {
		return 0
	}
	var s scanner.Scanner
	files := token.NewFileSet()
	file := files.AddFile(name, -1, len(text))
	s.Init(file, text, nil, scanner.ScanComments)
	found := 0
	for {
		pos, kind, literal := s.Scan()
		switch kind {
		case token.EOF:
			return found
		case token.COMMENT:
			found += report(name, file.Line(pos), literal, list)
		case token.STRING:
			if strings.HasPrefix(literal, "`json:") {
				continue // a tag holds names of the wire format or the database
			}
			if strings.Contains(literal, " ") { // a single word is data
				found += report(name, file.Line(pos), literal, list)
			}
		}
	}
}

// lineEnd is the end of a line and how the next one of a comment begins.
var lineEnd = regexp.MustCompile(`\n[\t ]*(?://)?`)

// report prints the phrases of a text that begins on a line of a file. A phrase may be
// broken over two lines of a comment.
func report(name string, line int, text string, list []phrase) int {
	flat := lineEnd.ReplaceAllStringFunc(text, func(end string) string {
		return "\n" + strings.Repeat(" ", len(end)-1)
	})
	found := 0
	for _, p := range list {
		for _, at := range p.pattern.FindAllStringIndex(flat, -1) {
			found++
			fmt.Printf("%s:%d: %q: write %s\n", name, line+strings.Count(flat[:at[0]], "\n"), strings.Join(strings.Fields(flat[at[0]:at[1]]), " "), p.write)
		}
	}
	return found
}
