// Package oracle compares the checks of signatures, tokens and names with the platform's
// official library, which generate.mjs has judge random and hostile cases.
package oracle

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify"
	"github.com/perennialhq/perennial/internal/platform/shopify/oauth"
)

var cases = flag.String("cases", "testdata/cases.jsonl.gz", "file with the cases, one JSON object a line")

// maxCase is the longest case, in bytes.
const maxCase = 1 << 20

// judged is a case with the library's judgement.
type judged struct {
	Kind     string            `json:"kind"`
	Secret   string            `json:"secret"`
	Client   string            `json:"client"`
	Query    string            `json:"query"`
	Token    string            `json:"token"`
	Text     string            `json:"text"`
	Headers  map[string]string `json:"headers"`
	Body     string            `json:"body"`
	Now      int64             `json:"now"` // s
	Official bool              `json:"official"`
	Want     any               `json:"want"` // of names the domain, else whether it is accepted
}

// ours returns what the service says of a case.
func (c judged) ours() any {
	now := time.Unix(c.Now, 0)
	switch c.Kind {
	case "shop":
		domain, ok := platform.ParseDomain(c.Text)
		if !ok {
			return ""
		}
		return domain
	case "oauth":
		query, err := url.ParseQuery(c.Query)
		if err == nil {
			_, err = oauth.New(oauth.Options{Secret: c.Secret}).OpenLaunch(query, now)
		}
		return err == nil
	case "proxy":
		query, err := url.ParseQuery(c.Query)
		if err == nil {
			_, err = shopify.Proxy{Secret: c.Secret}.Open(query, false, now)
		}
		return err == nil
	case "session":
		_, err := oauth.New(oauth.Options{ClientID: c.Client, Secret: c.Secret}).OpenSession(c.Token, now)
		return err == nil
	case "webhook":
		_, err := shopify.Webhooks{Secret: c.Secret}.Open(func(name string) string { return c.Headers[name] }, []byte(c.Body))
		return err == nil
	}
	return fmt.Sprintf("unknown kind %q", c.Kind)
}

func TestServiceAgreesWithTheOfficialLibrary(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(*cases)
	if err != nil {
		t.Fatal(err)
	}
	var in io.Reader = bytes.NewReader(text)
	if filepath.Ext(*cases) == ".gz" {
		if in, err = gzip.NewReader(in); err != nil {
			t.Fatal(err)
		}
	}
	type figures struct{ cases, official, accepted, wrong int }
	sums := map[string]*figures{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxCase)
	for lines.Scan() {
		var c judged
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if sums[c.Kind] == nil {
			sums[c.Kind] = &figures{}
		}
		f := sums[c.Kind]
		f.cases++
		got := c.ours()
		if c.Official {
			f.official++
		}
		if got == true || got != "" && got != false {
			f.accepted++
		}
		if got != c.Want {
			if f.wrong++; f.wrong <= 5 {
				t.Errorf("%s: got %v, want %v (the library: %t)\n%s", c.Kind, got, c.Want, c.Official, lines.Bytes())
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"shop", "oauth", "proxy", "session", "webhook"} {
		f := sums[kind]
		if f == nil || f.accepted*10 < f.cases || f.official*10 > f.cases*9 {
			t.Errorf("%s: the cases are of one sort: %+v", kind, f)
			continue
		}
		t.Logf("%s: %d cases, the library accepts %d, the service %d, they disagree on %d", kind, f.cases, f.official, f.accepted, f.wrong)
	}
}

// The committed cases stay readable, and few.
func TestCommittedCasesAreFew(t *testing.T) {
	t.Parallel()
	info, err := os.Stat("testdata/cases.jsonl.gz")
	if err != nil || info.Size() > 256<<10 || !strings.HasSuffix(info.Name(), ".gz") {
		t.Errorf("%v, %v", info, err)
	}
}
