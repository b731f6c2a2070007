package archive

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/goldentest"
)

// A line that is read is written as it is read again, and no line breaks the reader.
func FuzzRecordKeepsItsValues(f *testing.F) {
	f.Add(0, []byte(`{"domain":"a.myshopify.com","timeZone":"UTC","currency":"EUR","orderHour":9,"orderMinute":0,"settings":{"a":1},"ownerEmail":"\u003c"}`))
	f.Add(3, []byte(`{"id":1,"terms":"not {"}`))
	f.Add(3, []byte(`{"id":-9223372036854775808,"terms":[ 1 ,2]}`))
	f.Add(10, []byte(`{"id":1,"contractId":2,"requestedAt":"2026-01-31T09:00:00.000Z"}`))
	f.Add(10, []byte(`{"id":1,"contractId":2,"requestedAt":null}`))
	f.Fuzz(func(t *testing.T, number int, line []byte) {
		if number < 0 || bytes.ContainsAny(line, "\r\n") {
			t.Skip()
		}
		of := Types[number%len(Types)]
		r, err := of.record(line)
		if err != nil {
			return
		}
		written, err := of.line(nil, r)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Count(written, []byte("\n")) != 1 {
			t.Fatalf("%q is more than one line", written)
		}
		again, err := of.record(bytes.TrimSuffix(written, []byte("\n")))
		if err != nil {
			t.Fatalf("%q cannot be read: %v", written, err)
		}
		for i, f := range of.Fields {
			if again[i] != r[i] {
				t.Errorf("%s is %#v, was %#v", f.Name, again[i], r[i])
			}
		}
	})
}

// No bytes break the reader of archives.
func FuzzArchiveIsReadOrRefused(f *testing.F) {
	f.Add([]byte("PK\x05\x06" + string(make([]byte, 18))))
	f.Fuzz(func(_ *testing.T, file []byte) {
		a, err := Open(bytes.NewReader(file), int64(len(file)))
		if err == nil {
			_ = a.Verify(context.Background(), func(Type, []Record) error { return nil }, func(string, int) {})
		}
	})
}

func TestTypesAreSound(t *testing.T) {
	t.Parallel()
	known := make(map[string]bool)
	for _, of := range Types {
		if known[of.Name] {
			t.Errorf("%s is there twice", of.Name)
		}
		fields := make(map[string]bool)
		for i, f := range of.Fields {
			if f.Kind == noKind || fields[f.Name] || f.Of != "" && (!known[f.Of] || i == 0 && of.Key == 1) {
				t.Errorf("%s.%s has an unknown kind, is there twice, or refers to what comes later", of.Name, f.Name)
			}
			fields[f.Name] = true
		}
		if of.Key < 1 || of.Key > len(of.Fields) || of.About == "" {
			t.Errorf("%s has no key or says nothing", of.Name)
		}
		known[of.Name] = true
	}
}

// docs/generated/archive.md lists the types and fields.
func TestDocumentListsEveryField(t *testing.T) {
	t.Parallel()
	var doc bytes.Buffer
	fmt.Fprintf(&doc, "# Records of an archive\n\nVersion %d of the [format](../moving.md#the-format). Written by `go test ./internal/domain/moving/archive -run Document -update`. "+
		"A field without a kind is a text, and one with → names a record of that file.\n", Version)
	for _, of := range Types {
		fmt.Fprintf(&doc, "\n## %s\n\n%s. Key: the first %d of the fields.\n\n", of.Name, strings.ToUpper(of.About[:1])+of.About[1:], of.Key)
		for i, f := range of.Fields {
			if i > 0 {
				doc.WriteString(", ")
			}
			fmt.Fprintf(&doc, "`%s`", f.Name)
			if f.Kind != Text {
				fmt.Fprintf(&doc, " %s", f.Kind)
			}
			if f.Of != "" {
				fmt.Fprintf(&doc, " → %s", f.Of)
			}
		}
		doc.WriteString("\n")
	}
	goldentest.Same(t, "../../../../docs/generated/archive.md", doc.Bytes())
}
