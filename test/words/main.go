// Command words finds phrases that readers do not search for in comments, messages and
// documents, and prints the words to use in their place.
//
//	go run ./test/words [-count] [file or folder …]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	perThousand := flag.Bool("count", false, "print how often the phrases with a limit occur in 1,000 lines of comments, and check nothing")
	flag.Parse()
	files, err := listed(flag.Args())
	if err == nil && *perThousand {
		err = printCounts(files)
	} else if err == nil {
		err = printFindings(files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(1)
	}
}

// listed returns the files under version control below the paths, or all of them without
// a path. It leaves out generated files, test data and the phrases of this command.
func listed(paths []string) ([]string, error) {
	args := append([]string{"ls-files", "--cached", "--others", "--exclude-standard", "--"}, paths...)
	out, err := exec.CommandContext(context.Background(), "git", args...).Output()
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

func printFindings(files []string) error {
	found := 0
	for _, name := range files {
		texts, err := textsOf(name)
		if err != nil {
			return err
		}
		for _, t := range texts {
			for _, f := range t.find(phrases) {
				fmt.Printf("%s:%d: %q: write %s\n", name, f.line, f.words, f.write)
				found++
			}
		}
	}
	if found > 0 {
		return fmt.Errorf("%d phrases to write in plain words", found)
	}
	return nil
}

func printCounts(files []string) error {
	lines, counts := 0, make([]int, len(limited))
	for _, name := range files {
		texts, err := textsOf(name)
		if err != nil {
			return err
		}
		for _, t := range texts {
			if !t.comment {
				continue
			}
			lines += strings.Count(strings.TrimSuffix(t.text, "\n"), "\n") + 1
			for i, p := range limited {
				counts[i] += len(t.find([]phrase{p}))
			}
		}
	}
	for i, p := range limited {
		fmt.Printf("%-18s %4d, %.2f in 1,000 of %d lines of comments\n", p.name, counts[i], 1000*float64(counts[i])/float64(max(lines, 1)), lines)
	}
	return nil
}
