// Package theme renders blocks of a theme app extension as the platform's themes do, with
// the same objects, filters and tags. It knows what our blocks use: what else they would
// use is an error, and is added here as the platform has it.
package theme

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/perennialhq/perennial/internal/liquid"
)

// Extension is a theme app extension.
type Extension struct {
	blocks map[string]*Block
	words  map[string]map[string]any // by language
}

// Block is something that merchants put into a section of a page.
type Block struct {
	Name     string
	Schema   Schema
	template *liquid.Template
}

// Schema is what a block says of itself.
type Schema struct {
	Name       string `json:"name"`
	Target     string `json:"target"`
	Stylesheet string `json:"stylesheet"`
	Javascript string `json:"javascript"`
	EnabledOn  struct {
		Templates []string `json:"templates"`
	} `json:"enabled_on"`
	Settings []Setting `json:"settings"`
}

// Setting is something that merchants choose.
type Setting struct {
	Type     string   `json:"type"`
	ID       string   `json:"id"`
	Label    string   `json:"label"`
	Info     string   `json:"info"`
	Default  any      `json:"default"`
	Options  []Choice `json:"options"`
	Autofill bool     `json:"autofill"`
}

// Choice is a value of a setting.
type Choice struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

// DefaultLanguage is the one whose file is the extension's default.
const DefaultLanguage = "en"

// Read reads an extension's files. What the platform would refuse of a block is an error.
func Read(files fs.FS) (*Extension, error) {
	e := &Extension{blocks: map[string]*Block{}, words: map[string]map[string]any{}}
	if err := e.readWords(files); err != nil {
		return nil, err
	}
	engine := &liquid.Engine{
		Filters: map[string]liquid.Filter{"money": moneyFilter, "t": e.translate},
		Blocks:  map[string]liquid.Block{"form": form},
		Snippets: func(name string) (string, error) {
			text, err := fs.ReadFile(files, "snippets/"+name+".liquid")
			return string(text), err
		},
	}
	names, err := fs.Glob(files, "blocks/*.liquid")
	if err != nil {
		return nil, err
	}
	for _, file := range names {
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, err
		}
		b := &Block{Name: strings.TrimSuffix(path.Base(file), ".liquid")}
		if b.template, err = engine.Parse(file, string(text)); err != nil {
			return nil, err
		}
		decode := json.NewDecoder(strings.NewReader(b.template.Schema))
		decode.DisallowUnknownFields()
		if err := decode.Decode(&b.Schema); err != nil {
			return nil, fmt.Errorf("%s: the schema cannot be read: %w", file, err)
		}
		e.blocks[b.Name] = b
	}
	return e, nil
}

// readWords reads the translations that shoppers see.
func (e *Extension) readWords(files fs.FS) error {
	names, err := fs.Glob(files, "locales/*.json")
	if err != nil {
		return err
	}
	for _, file := range names {
		language := strings.TrimSuffix(path.Base(file), ".json")
		if strings.HasSuffix(language, ".schema") {
			continue // what merchants see
		}
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return err
		}
		words := map[string]any{}
		if err := json.Unmarshal(text, &words); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		e.words[strings.TrimSuffix(language, ".default")] = words
	}
	return nil
}

// Block returns a block by the name of its file.
func (e *Extension) Block(name string) (*Block, bool) {
	b, ok := e.blocks[name]
	return b, ok
}

// Speaks reports whether the extension has words in a language.
func (e *Extension) Speaks(language string) bool { return e.words[language] != nil }

// Render writes the block on a page. Settings that the page does not have are the
// schema's defaults.
func (b *Block) Render(p Page) (string, error) {
	objects := p.objects()
	settings := map[string]any{}
	for _, s := range b.Schema.Settings {
		switch {
		case s.Type == "product" && s.Autofill:
			settings[s.ID] = objects["product"]
		case s.Default == nil:
			settings[s.ID] = ""
		default:
			settings[s.ID] = s.Default
		}
		if v, ok := p.Settings[b.Name+"."+s.ID]; ok {
			settings[s.ID] = s.parse(v)
		}
	}
	objects["section"] = &liquid.Object{Name: "section", Properties: map[string]any{"id": p.Section}}
	objects["block"] = &liquid.Object{Name: "block", Properties: map[string]any{
		"id": b.Name, "type": "shopify://apps/perennial/blocks/" + b.Name, "shopify_attributes": "",
		"settings": &liquid.Object{Name: "block.settings", Properties: settings},
	}}
	return b.template.Render(objects)
}

// parse reads a setting as it is written down.
func (s Setting) parse(text string) any {
	if s.Type == "checkbox" {
		return text == "true"
	}
	return text
}
