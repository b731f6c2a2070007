package privacy

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"
	"time"
)

// Copy is all that is stored about a customer.
type Copy struct {
	Store    string    `json:"store"`
	Customer int64     `json:"customerId"`
	At       time.Time `json:"collectedAt"`
	Sections []Section `json:"sections"`
}

// Section is what is stored about a customer in one place.
type Section struct {
	Name    string   `json:"name"` // does not change
	Title   string   `json:"title"`
	Records []Record `json:"records"`
}

// Record is one thing that is stored, in the order of its fields. Fields without a value
// are left out.
type Record []Field

// Field is a value of a record: a text, number, truth value, instant or JSON text.
type Field struct {
	Name  string
	Value any
}

// MarshalJSON writes a record as an object whose names are in the record's order.
func (r Record) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, f := range r {
		if i > 0 {
			text = append(text, ',')
		}
		name, err := json.Marshal(f.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(f.Value)
		if err != nil {
			return nil, err
		}
		text = append(append(append(text, name...), ':'), value...)
	}
	return append(text, '}'), nil
}

// Label is the name of a field for people.
func (f Field) Label() string { return strings.ReplaceAll(f.Name, "_", " ") }

// Text is the value of a field for people.
func (f Field) Text() string {
	switch v := f.Value.(type) {
	case time.Time:
		return v.Format("2 January 2006 15:04 MST")
	case json.RawMessage:
		var indented bytes.Buffer
		if json.Indent(&indented, v, "", "  ") == nil {
			return indented.String()
		}
		return string(v)
	}
	return fmt.Sprint(f.Value)
}

// records counts the records of sections.
func records(data []Section) int {
	n := 0
	for _, s := range data {
		n += len(s.Records)
	}
	return n
}

// Archive is an export as a file.
type Archive struct {
	Name string // of the file
	Zip  []byte
}

// pack writes a copy as JSON and as a page into one zip file.
func pack(c Copy) (Archive, error) {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return Archive{}, fmt.Errorf("write the data of customer %d: %w", c.Customer, err)
	}
	var html bytes.Buffer
	if err := page.Execute(&html, c); err != nil {
		return Archive{}, fmt.Errorf("write the page of customer %d: %w", c.Customer, err)
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, file := range []struct {
		name string
		text []byte
	}{{"data.json", text}, {"data.html", html.Bytes()}} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: file.name, Method: zip.Deflate, Modified: c.At})
		if err != nil {
			return Archive{}, fmt.Errorf("add %s: %w", file.name, err)
		}
		if _, err := w.Write(file.text); err != nil {
			return Archive{}, fmt.Errorf("add %s: %w", file.name, err)
		}
	}
	if err := z.Close(); err != nil {
		return Archive{}, fmt.Errorf("end the file: %w", err)
	}
	return Archive{Name: fmt.Sprintf("customer-%d-%s.zip", c.Customer, c.At.Format(time.DateOnly)), Zip: out.Bytes()}, nil
}

// page is the readable form of a copy. It needs nothing from elsewhere.
var page = template.Must(template.New("copy").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Data of customer {{.Customer}}</title>
<style>
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
dl{display:grid;grid-template-columns:minmax(8rem,14rem) 1fr;gap:.25rem 1rem;border-top:1px solid #767676;padding-top:.75rem}
dt{font-weight:600}dd{margin:0;overflow-wrap:anywhere;white-space:pre-wrap}
</style>
</head>
<body>
<h1>Data of customer {{.Customer}}</h1>
<p>All that the subscription service of {{.Store}} has stored about this customer, collected on {{.At.Format "2 January 2006 15:04 MST"}}. The same data for programs is in data.json.</p>
{{range .Sections}}<h2>{{.Title}}</h2>
{{if not .Records}}<p>Nothing is stored.</p>
{{end}}{{range .Records}}<dl>
{{range .}}<dt>{{.Label}}</dt><dd>{{.Text}}</dd>
{{end}}</dl>
{{end}}{{end}}</body>
</html>
`))
