package bulk

import (
	"fmt"
	"strings"

	"github.com/perennialhq/perennial/internal/domain/bulk"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// words are what pages say of a kind of action. Each %s is "12 contracts".
type words struct {
	name   string // of the action, alone
	verb   string // on the button
	doing  string
	done   string
	keep   string // the link back, named by its effect
	grave  bool   // it cannot be undone in one step
	warns  string // what else happens
	prompt bool   // it needs parameters
}

var wordsOf = map[bulk.Kind]words{
	bulk.Pause:        {"Pause", "Pause %s", "Pausing %s", "Paused %s", "Keep them active", false, "No order is charged while a contract is paused. Customers get the e-mail about a pause, where the store sends it.", true},
	bulk.Resume:       {"Resume", "Resume %s", "Resuming %s", "Resumed %s", "Keep them paused", false, "Upcoming orders are planned again. Dates that passed meanwhile are not charged.", false},
	bulk.Cancel:       {"Cancel", "Cancel %s", "Cancelling %s", "Cancelled %s", "Keep the contracts", true, "No order is charged after this, and customers get the e-mail about a cancellation, where the store sends it. A cancelled contract cannot be resumed.", true},
	bulk.SkipNext:     {"Skip next order", "Skip an order of %s", "Skipping an order of %s", "Skipped an order of %s", "Keep the orders", false, "The next order of each contract is not charged. The one after it comes on its date.", false},
	bulk.MoveNext:     {"Move next order", "Move an order of %s", "Moving an order of %s", "Moved an order of %s", "Keep the dates", false, "", true},
	bulk.SetQuantity:  {"Change quantity", "Change %s", "Changing the quantity of %s", "Changed the quantity of %s", "Keep the quantities", false, "", true},
	bulk.SetPrice:     {"Change price", "Change the price of %s", "Changing the price of %s", "Changed the price of %s", "Keep the prices", true, "Customers get an e-mail about the new price.", true},
	bulk.SwapVariant:  {"Swap product", "Swap a product of %s", "Swapping a product of %s", "Swapped a product of %s", "Keep the products", false, "The new product is priced by the plan of its line.", true},
	bulk.ApplyCode:    {"Apply discount code", "Apply to %s", "Applying a code to %s", "Applied a code to %s", "Keep the prices", false, "Whether the code is valid for a contract is found out when it is applied.", true},
	bulk.RemoveCode:   {"Remove discount code", "Remove from %s", "Removing a code from %s", "Removed a code from %s", "Keep the code", false, "", true},
	bulk.SetCycles:    {"Set number of orders", "Change %s", "Changing the limits of %s", "Changed the limits of %s", "Keep the limits", false, "", true},
	bulk.AddOneOff:    {"Add one-time product", "Add to %s", "Adding a product to %s", "Added a product to %s", "Keep the orders", false, "The next order carries the product once, at the catalogue's price.", true},
	bulk.RemoveOneOff: {"Remove one-time product", "Remove from %s", "Removing a product from %s", "Removed a product from %s", "Keep the product", false, "", true},
	bulk.SendLink:     {"Send portal link", "Send to %s", "Sending links to %s", "Sent links to %s", "Send nothing", false, "Each customer gets one e-mail with a link that works once, within two hours.", false},
	bulk.SendNews:     {"Send e-mail", "Send to %s", "Writing to %s", "Wrote to %s", "Send nothing", true, "Each customer gets one e-mail, from 8:00 to 20:00, also with several contracts. Those who do not want news from the store, and those of cancelled contracts, get none. What was sent cannot be taken back.", true},
}

func contracts(n int) string { return dashboard.Count(n, "contract", "contracts") }

// of puts the number of contracts into a sentence.
func of(sentence string, n int) string { return fmt.Sprintf(sentence, contracts(n)) }

// title is a job in words, as far as it is.
func title(j bulk.Job) string {
	w := wordsOf[j.Action.Kind]
	if j.Status == bulk.Finished && j.Failed == 0 {
		return of(w.done, j.Total)
	}
	if j.Status.Open() {
		return of(w.doing, j.Total)
	}
	return of(w.name+": %s", j.Total)
}

// badge is the status of a job.
func badge(j bulk.Job) dashboard.Badge {
	switch j.Status {
	case bulk.Collecting:
		return dashboard.Badge{Tone: dashboard.Info, Text: "Starting"}
	case bulk.Running:
		return dashboard.Badge{Tone: dashboard.Info, Text: "Running"}
	case bulk.Stopping:
		return dashboard.Badge{Tone: dashboard.Warning, Text: "Stopping"}
	case bulk.Stopped:
		return dashboard.Badge{Tone: dashboard.Neutral, Text: "Stopped", Hollow: true}
	}
	if j.Failed > 0 {
		return dashboard.Badge{Tone: dashboard.Warning, Text: "Partly done"}
	}
	return dashboard.Badge{Tone: dashboard.Good, Text: "Done"}
}

// reasonWords say why an action is not possible, by the code of the rule. Codes that are not
// here have the rule's own sentence about one of the contracts.
var reasonWords = map[string]string{
	"sameStatus":           "already in that status",
	"contractStatus":       "in a status from which this is not possible",
	"contractTerminated":   "cancelled or expired: restart them one by one",
	"contractNotActive":    "cancelled or expired: no changes are possible",
	"contractNotFound":     "no longer there",
	"cancellationPending":  "already to be cancelled",
	"noUpcomingOrder":      "without an upcoming order",
	"lineNotFound":         "without a line with that variant",
	"unchanged":            "already so",
	"discountApplied":      "already with the code",
	"discountNotFound":     "without the code",
	"oneOffNotFound":       "without the product in the next order",
	"currencyMismatch":     "in another currency",
	"emailMissing":         "without an e-mail address",
	"lifetimeMembership":   "paid for life",
	"billingDatePast":      "with an order that would fall in the past",
	"billingDateTooFar":    "with an order that would be too far ahead",
	"statusInProgress":     "with another change in progress",
	"cycleLimits":          "with limits that do not fit",
	"billingAttemptStatus": "with an order that cannot be changed now",
}

// statusName is a status in words.
func statusName(s contract.Status) string {
	return string(s[:1]) + strings.ToLower(string(s[1:]))
}
