package billing

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/swap"
)

// OrderLine is a line of an order. OneOff names the one-time product that it is; 0: it
// is one of the contract's lines.
type OrderLine struct {
	swap.LineItem
	OneOff OneOffID
}

// Fingerprint identifies what the lines and the note of an order say. The ids and the
// sequence of the lines do not count.
func Fingerprint(lines []OrderLine, note string) string {
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = fmt.Sprintf("%d×%d@%s%s/%d", l.VariantID, l.Quantity, l.Price, l.Price.Currency, l.OneOff)
	}
	slices.Sort(texts)
	sum := sha256.Sum256([]byte(strings.Join(texts, "\n") + "\n\n" + note))
	return hex.EncodeToString(sum[:12])
}

// FingerprintOf is the Fingerprint of a contract's lines.
func FingerprintOf(lines []contract.LineItem) string {
	return Fingerprint(OrderLines(swap.Lines(lines)), "")
}

// OrderLines returns lines that are no one-time products as lines of an order.
func OrderLines(lines []swap.LineItem) []OrderLine {
	list := make([]OrderLine, len(lines))
	for i, l := range lines {
		list[i].LineItem = l
	}
	return list
}
