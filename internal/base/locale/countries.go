package locale

import (
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// Country returns what a country is called, by its ISO 3166-1 code of two letters; the code where no
// name is known.
func (p *Printer) Country(code string) string {
	region, err := language.ParseRegion(code)
	if err != nil {
		return code
	}
	names := display.Regions(p.language)
	if names == nil {
		names = display.English.Regions()
	}
	if name := names.Name(region); name != "" {
		return name
	}
	return code
}
