package internal_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	fence    = regexp.MustCompile("(?ms)^```.*?^```")
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeSpan = regexp.MustCompile("`([^`\n]+)`")
	heading  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notSlug  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// documents returns the text of every document, by its path below the root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	docs := map[string]string{}
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || d.Name() == "bin" || d.Name() == "dist"):
			return fs.SkipDir
		case filepath.Ext(file) != ".md":
			return nil
		}
		text, err := os.ReadFile(file)
		docs[filepath.ToSlash(strings.TrimPrefix(file, ".."+string(filepath.Separator)))] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs/operating.md"} {
		if docs[name] == "" {
			t.Errorf("%s is missing", name)
		}
	}
	return docs
}

// prose returns a document without code that looks like a link.
func prose(text string) string {
	return codeSpan.ReplaceAllStringFunc(fence.ReplaceAllString(text, ""), func(code string) string {
		if strings.Contains(code, "](") {
			return ""
		}
		return code
	})
}

// anchors returns the names by which a document's headings can be linked to.
func anchors(text string) []string {
	var list []string
	for _, h := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		words := strings.ToLower(strings.TrimSpace(codeSpan.ReplaceAllString(h[1], "$1")))
		list = append(list, strings.ReplaceAll(notSlug.ReplaceAllString(words, ""), " ", "-"))
	}
	return list
}

func TestDocumentLinksExist(t *testing.T) {
	t.Parallel()
	docs := documents(t)
	for name, text := range docs {
		for _, found := range link.FindAllStringSubmatch(prose(text), -1) {
			file, anchor, _ := strings.Cut(found[1], "#")
			if strings.Contains(file, "://") || strings.HasPrefix(file, "mailto:") {
				continue
			}
			target := name
			if file != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(name), file))
			}
			if _, err := os.Stat(filepath.Join("..", target)); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, found[1])
				continue
			}
			if anchor != "" && !slices.Contains(anchors(docs[target]), anchor) {
				t.Errorf("%s links to %s, but %s has no such heading", name, found[1], target)
			}
		}
	}
}

// A word in code that begins with a folder of the checkout is a path. One with a part to fill
// in, such as internal/domain/<feature>, is taken up to that part.
func TestDocumentPathsExist(t *testing.T) {
	t.Parallel()
	folders, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range documents(t) {
		for _, found := range codeSpan.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			path := strings.TrimPrefix(found[1], "./")
			if i := strings.IndexAny(path, "…<*{"); i >= 0 {
				path = path[:strings.LastIndex(path[:i], "/")+1]
			}
			first, _, below := strings.Cut(path, "/")
			known := slices.ContainsFunc(folders, func(e fs.DirEntry) bool {
				return e.IsDir() && e.Name() == first && first != "bin" && first != "dist"
			})
			if !below || !known || strings.ContainsAny(path, " \t(") {
				continue
			}
			if _, err := os.Stat(filepath.Join("..", path)); err != nil {
				t.Errorf("%s names %s, which does not exist", name, found[1])
			}
		}
	}
}

// A row of the tour is: what to do, the word to grep for, the folder, the file that the
// word finds, and the file to read then with a name that it declares.
func TestTourFindsItsFilesByWord(t *testing.T) {
	t.Parallel()
	const most = 5 // files in which a reader finds the one to open
	_, tour, _ := strings.Cut(documents(t)["CONTRIBUTING.md"], "## A tour in five stops\n")
	tour, _, _ = strings.Cut(tour, "\n## ")
	stops := 0
	for row := range strings.Lines(tour) {
		cells := strings.Split(row, "|")
		if len(cells) < 6 || codeSpan.FindString(cells[2]) == "" {
			continue // not a row, or the head of the table
		}
		stops++
		code := func(cell int) string { return codeSpan.FindStringSubmatch(cells[cell])[1] }
		found := filesWith(t, filepath.Join("..", code(3)), code(2))
		if first := filepath.Join("..", code(4)); !slices.Contains(found, first) || len(found) > most {
			t.Errorf("%q is in %q, want at most %d files with %s", code(2), found, most, first)
		}
		then := codeSpan.FindAllStringSubmatch(cells[5], 2)
		text, err := os.ReadFile(filepath.Join("..", then[0][1]))
		if err != nil {
			t.Fatal(err)
		}
		name := then[1][1][strings.LastIndex(then[1][1], ".")+1:]
		if !regexp.MustCompile(`(?m)^(func|type|var) (\([^)]*\) )?` + regexp.QuoteMeta(name) + `\b`).Match(text) {
			t.Errorf("%s declares no %s", then[0][1], name)
		}
	}
	if stops != 5 {
		t.Errorf("the tour has %d stops, want 5", stops)
	}
}

// filesWith returns the Go files below a folder, tests apart, that contain a word.
func filesWith(t *testing.T, folder, word string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), word) {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
