package main

import (
	"bytes"
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// text is a document, or a comment or a message of a Go file, and the line on which it
// begins.
type text struct {
	line    int
	text    string
	comment bool
}

// finding is a phrase in a file.
type finding struct {
	line         int
	words, write string
}

func textsOf(name string) ([]text, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if filepath.Ext(name) == ".go" {
		return goTexts(name, content), nil
	}
	return []text{{line: 1, text: string(content)}}, nil
}

// goTexts returns the comments and messages of a Go file. Adjacent line comments are one
// text, because a phrase may begin on one line and end on the next. Strings without a
// space and the tags of fields are names of the wire format or the database.
func goTexts(name string, content []byte) (texts []text) {
	if bytes.HasPrefix(content, []byte("// Code generated ")) || bytes.Contains(content, []byte("\n// Code generated ")) {
		return nil
	}
	var s scanner.Scanner
	file := token.NewFileSet().AddFile(name, -1, len(content))
	s.Init(file, content, nil, scanner.ScanComments)
	for next := 0; ; { // the line on which the last comment may go on
		pos, kind, literal := s.Scan()
		line := file.Line(pos)
		switch kind {
		case token.EOF:
			return texts
		case token.COMMENT:
			if last := len(texts) - 1; last >= 0 && line == next {
				texts[last].text += "\n" + literal
			} else {
				texts = append(texts, text{line, literal, true})
			}
			next = line + strings.Count(literal, "\n") + 1
			continue
		case token.STRING:
			if strings.Contains(literal, " ") && !strings.HasPrefix(literal, "`json:") {
				texts = append(texts, text{line, literal, false})
			}
		}
		next = 0
	}
}

// lineEnd is the end of a line and how the next line of a comment begins.
var lineEnd = regexp.MustCompile(`\n[\t ]*(?://)?`)

// find returns the phrases that a text has. A phrase may be broken over two lines.
func (t text) find(phrases []phrase) (list []finding) {
	flat := lineEnd.ReplaceAllString(t.text, "\n ")
	for _, p := range phrases {
		for _, at := range p.pattern.FindAllStringIndex(flat, -1) {
			list = append(list, finding{
				line:  t.line + strings.Count(flat[:at[0]], "\n"),
				words: strings.Join(strings.Fields(flat[at[0]:at[1]]), " "),
				write: p.write,
			})
		}
	}
	return list
}
