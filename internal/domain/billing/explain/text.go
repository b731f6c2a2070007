package explain

import (
	"fmt"
	"strings"
)

// Text returns the explanation for people to read.
func (e Explanation) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Billing attempt %d of %s: cycle %d of contract %d, %s\n", e.ID, e.Shop.Domain, e.Cycle, e.Of.ID, e.Status)
	fmt.Fprintf(&b, "As of %s. %s\n", e.moment(e.Now), e.Summary)
	part := func(title string, words ...string) {
		fmt.Fprintf(&b, "\n%s\n", title)
		for _, w := range words {
			fmt.Fprintf(&b, "  %s\n", w)
		}
	}
	part("Date", e.Date.Words...)
	part("Prices", e.Prices.Words...)
	part("Preparation", e.Preparation.Words...)
	if len(e.Tries) == 0 {
		part("Charges", "Nothing has been sent to the platform for this cycle.")
	} else {
		part("Charges")
		for _, t := range e.Tries {
			fmt.Fprintf(&b, "  %s\n    idempotency key %s\n", t.Words, t.Key)
			if t.PlatformID != "" {
				fmt.Fprintf(&b, "    at the platform %s\n", t.PlatformID)
			}
		}
	}
	part("Outcome", e.Outcome.Words)
	part("Next", e.Next.Words)
	part("Activity")
	if e.Earlier > 0 {
		fmt.Fprintf(&b, "  (%d entries before these)\n", e.Earlier)
	}
	if len(e.Entries) == 0 {
		b.WriteString("  (none)\n")
	}
	for _, h := range e.Entries {
		fmt.Fprintf(&b, "  %s  %s %s, by %s  %s\n", e.moment(h.At), h.Event, h.Status, actorName(h.Actor), h.Info)
	}
	return b.String()
}
