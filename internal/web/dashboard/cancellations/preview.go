package cancellations

import (
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// preview is what customers see, step by step.
type preview struct {
	Mode       flow.Mode
	Paragraphs []string // of the instructions
	Support    string
	Reasons    []previewReason
	Wrong      string // why there is none
}

type previewReason struct {
	Label   string
	Comment bool
	Offers  []string // in the order in which they are tried
}

// previewOf returns what customers see of what was entered, in a language.
func previewOf(d draft, tag string, v dashboard.Visit) preview {
	f, err := d.flow(v.Shop.Currency)
	if err != nil {
		return preview{Wrong: "There is something to correct in the form first."}
	}
	p := preview{Mode: f.Mode, Paragraphs: f.Paragraphs(), Support: f.Support}
	for _, r := range f.Reasons {
		one := previewReason{Label: r.LabelIn(tag), Comment: r.Comment}
		for _, o := range r.Offers {
			one.Offers = append(one.Offers, nameOf(o))
		}
		p.Reasons = append(p.Reasons, one)
	}
	return p
}
