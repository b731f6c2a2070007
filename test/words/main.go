// Command words finds phrases that readers do not search for in comments, messages and
// documents, and prints the words to use in their place.
//
//	go run ./test/words [-count] [file or folder …]
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
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

// listed returns the files below the paths, or below this folder without a path. It leaves
// out what is built or generated, test data and the phrases of this command.
func listed(paths []string) ([]string, error) {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	var files []string
	for _, path := range paths {
		err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				return skipped(name, d.Name())
			}
			switch filepath.Ext(name) {
			case ".go", ".md", ".html", ".txt":
				files = append(files, name)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("list the files below %s: %w", path, err)
		}
	}
	return files, nil
}

// skipped keeps the walk out of a folder that is not written by hand.
func skipped(path, name string) error {
	switch {
	case path == ".":
		return nil
	case strings.HasPrefix(name, "."), name == "testdata", name == "node_modules", path == "bin", path == "dist",
		path == filepath.Join("docs", "generated"), path == filepath.Join("test", "words"):
		return fs.SkipDir
	}
	return nil
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
