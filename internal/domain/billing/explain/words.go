package explain

import (
	"fmt"
	"strings"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

func answered(code, message string) string {
	switch message = strings.TrimSuffix(message, "."); {
	case code == "" && message == "":
		return "no reason was given"
	case code == "" || message == "":
		return code + message
	}
	return fmt.Sprintf("%s (%s)", message, code)
}

// actorName names an actor.
func actorName(a activity.Actor) string {
	switch {
	case a.By != "":
		return a.By
	case a.Source == activity.SystemEvent:
		return "the service"
	case a.Source == activity.ShopifyEvent:
		return "a person at the platform"
	case a.Source == activity.CustomerPortal:
		return "the customer"
	}
	return "a person of the store"
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// numeral returns 1st, 2nd, 3rd and so on.
func numeral(n int) string {
	switch {
	case n%10 == 1 && n%100 != 11:
		return fmt.Sprintf("%dst", n)
	case n%10 == 2 && n%100 != 12:
		return fmt.Sprintf("%dnd", n)
	case n%10 == 3 && n%100 != 13:
		return fmt.Sprintf("%drd", n)
	}
	return fmt.Sprintf("%dth", n)
}

// called names a product.
func called(l contract.LineItem) string {
	if l.VariantTitle == "" {
		return l.Title
	}
	return l.Title + ", " + l.VariantTitle
}

// spoken returns an amount with its currency.
func spoken(a money.Amount) string { return fmt.Sprintf("%s %s", a, a.Currency) }

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
