package payments

import (
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// group is declines about which the same can be done.
type group struct {
	name    string // in addresses
	title   string
	about   string
	icon    string
	tone    dashboard.Tone
	classes []dunning.Class
}

// groups are in the order of the tabs.
var groups = []group{
	{"later", "May work later", "Not enough money, or the bank declined without a reason that lasts. The order is charged again by plan.", "clock", dashboard.Info, []dunning.Class{dunning.Funds, dunning.Issuer, dunning.Transient}},
	{"card", "Needs a new card", "The card has expired or was replaced. Charging it again cannot work until it is changed.", "card", dashboard.Warning, []dunning.Class{dunning.Card}},
	{"confirm", "Customer must confirm", "The bank asks for a confirmation. The customer got the link by e-mail.", "user", dashboard.Info, []dunning.Class{dunning.Auth}},
	{"goods", "Stock or address", "A product is out of stock, or the order cannot be delivered to the address.", "box", dashboard.Warning, []dunning.Class{dunning.Stock, dunning.Address}},
	{"yours", "Waits for you", "Your store could not take the payment. Nothing happens until you have solved it and charge the order.", "alert", dashboard.Bad, []dunning.Class{dunning.Merchant, dunning.Done}},
	{"never", "Do not retry", "Suspected fraud, or a customer who no longer exists. The order is not charged again, which protects your standing with banks.", "stop", dashboard.Bad, []dunning.Class{dunning.Fraud, dunning.Gone}},
}

// groupOf returns the group of a class.
func groupOf(c dunning.Class) group {
	for _, g := range groups {
		for _, of := range g.classes {
			if of == c {
				return g
			}
		}
	}
	return groups[0]
}

// finalWords say what happens when no retry is left, and pastWords while it does.
var (
	finalWords = map[dunning.Action]string{dunning.Pause: "the contract is paused", dunning.Skip: "the order is skipped", dunning.Cancel: "the contract is cancelled"}
	endWords   = map[dunning.Action]string{dunning.Pause: "The contract is being paused", dunning.Skip: "The order is being skipped", dunning.Cancel: "The contract is being cancelled"}
)
