package simulator

import (
	"encoding/json"

	"github.com/perennialhq/perennial/internal/base/money"
)

func (x *exec) money(g *group, m money.Amount) {
	x.out = append(x.out, '{')
	for i, f := range x.below(g, "MoneyV2") {
		x.comma(i)
		x.name(f.alias)
		switch f.field.Name {
		case "amount":
			x.string(decimalText(m))
		case "currencyCode":
			x.string(string(m.Currency))
		default:
			x.string("MoneyV2")
		}
	}
	x.out = append(x.out, '}')
}

func (x *exec) bag(g *group, b moneyBag) {
	x.out = append(x.out, '{')
	for i, f := range x.below(g, "MoneyBag") {
		x.comma(i)
		x.name(f.alias)
		if f.field.Name == "__typename" {
			x.string("MoneyBag")
		} else {
			x.money(f, money.Amount(b))
		}
	}
	x.out = append(x.out, '}')
}

// decimalText writes an amount as the platform does: at least one decimal, no
// more zeros than that.
func decimalText(m money.Amount) string {
	s := m.String()
	if m.Currency.Exponent() == 0 {
		return s + ".0"
	}
	for s[len(s)-1] == '0' && s[len(s)-2] != '.' {
		s = s[:len(s)-1]
	}
	return s
}

func (x *exec) null() { x.out = append(x.out, "null"...) }

func (x *exec) comma(i int) {
	if i > 0 {
		x.out = append(x.out, ',')
	}
}

func (x *exec) name(s string) {
	x.out = append(append(append(x.out, '"'), s...), '"', ':')
}

func (x *exec) string(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x80 || c == '<' || c == '>' || c == '&' {
			text, err := json.Marshal(s)
			if err != nil {
				panic(err) // strings can always be written
			}
			x.out = append(x.out, text...)
			return
		}
	}
	x.out = append(append(append(x.out, '"'), s...), '"')
}

func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
