package analytics_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/goldentest"
	"github.com/perennialhq/perennial/internal/domain/analytics"
)

// document is what people read; definitions are between the marks.
const document = "../../../docs/analytics.md"

const (
	beginMark = "<!-- definitions: written by go test ./internal/domain/analytics -update -->\n"
	endMark   = "<!-- end of definitions -->\n"
)

func TestDocumentHasDefinitionsOfPages(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(text), beginMark)
	_, after, ended := strings.Cut(rest, endMark)
	if !begun || !ended {
		t.Fatal("the marks of the definitions are missing")
	}
	var b strings.Builder
	b.WriteString(before + beginMark)
	for _, d := range analytics.Definitions {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n", d.Name, d.Text)
		for i, detail := range d.Details {
			if i == 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "- %s\n", detail)
		}
	}
	goldentest.Same(t, document, []byte(b.String()+"\n"+endMark+after))
}

func TestEveryMetricIsDefinedOnce(t *testing.T) {
	t.Parallel()
	seen := make(map[analytics.Metric]bool)
	for _, d := range analytics.Definitions {
		if seen[d.Metric] || d.Name == "" || !strings.HasSuffix(d.Text, ".") {
			t.Errorf("the definition of %s is %+v", d.Metric, d)
		}
		seen[d.Metric] = true
	}
	if _, has := analytics.DefinitionOf("nonsense"); has {
		t.Error("a metric that does not exist is defined")
	}
}
