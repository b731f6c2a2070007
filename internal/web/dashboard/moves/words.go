package moves

import (
	"net/url"

	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// stageWord says where a contract is in a move.
type stageWord struct {
	name string
	tone dashboard.Tone
}

// stageWords are the stages in words.
var stageWords = map[moving.Stage]stageWord{
	moving.Found:      {"Not read yet", dashboard.Neutral},
	moving.Shadow:     {"Compared", dashboard.Info},
	moving.Chosen:     {"In the wave", dashboard.Info},
	moving.Stopping:   {"Being stopped", dashboard.Warning},
	moving.Making:     {"Being created", dashboard.Warning},
	moving.Made:       {"Created, not charged yet", dashboard.Warning},
	moving.Cancelling: {"Being cancelled", dashboard.Warning},
	moving.Opening:    {"Being opened", dashboard.Warning},
	moving.Moved:      {"Moved", dashboard.Good},
	moving.Returning:  {"Being given back", dashboard.Warning},
	moving.Staying:    {"Stays", dashboard.Neutral},
}

// stageWordsOfFile are those that are called differently when contracts come from a file.
var stageWordsOfFile = map[moving.Stage]string{moving.Shadow: "Read", moving.Moved: "Created", moving.Returning: "Being taken back"}

// done says what a move does with contracts.
func done(m moving.Move) string {
	if m.File != nil {
		return "created"
	}
	return "moved"
}

// fitWords are what the dry run says of a contract.
var fitWords = map[moving.Fit]stageWord{
	moving.Goes: {"Goes as it is", dashboard.Good}, moving.Changes: {"Goes with differences", dashboard.Warning}, moving.Stays: {"Cannot go", dashboard.Bad},
}

// verdictWord says how an order that was made compares with the planned one.
type verdictWord struct {
	name  string
	tone  dashboard.Tone
	about string
}

// verdictWords are the verdicts in words.
var verdictWords = map[moving.Verdict]verdictWord{
	moving.Same:        {"Same", dashboard.Good, "Same day, products and amount."},
	moving.Taxes:       {"Taxes or shipping", dashboard.Info, "It cost more than planned by what may be taxes or a shipping rate, which no service knows in advance."},
	moving.SkippedThey: {"Skipped", dashboard.Info, "It was skipped after the contract was read."},
	moving.DeclinedBy:  {"Declined", dashboard.Info, "The charge was declined."},
	moving.ChangedAt:   {"Contract changed", dashboard.Info, "The contract was changed after it was read."},
	moving.StoppedAt:   {"Contract stopped", dashboard.Info, "The contract was paused or ended after it was read."},
	moving.Late:        {"Another day", dashboard.Info, "It was made on another day than planned."},
	moving.Missing:     {"Not made", dashboard.Bad, "It was planned and was not made. No rule says why."},
	moving.Unplanned:   {"Not planned", dashboard.Bad, "It was made and was not planned. No rule says why."},
	moving.Unexplained: {"Differs", dashboard.Bad, "It has other products or another amount than planned. No rule says why."},
}

// findingWord is what a rule of the dry run found, and what to do.
type findingWord struct{ title, what string }

// findingWords are those of the rules that name what to do for all contracts alike. Of other rules the
// page shows what was found about one of the contracts.
var findingWords = map[string]findingWord{
	"contractGone":          {"The contract no longer exists", "Nothing has to be done."},
	"contractEnded":         {"The contract has ended", "It has no orders to come, so it stays. Nothing has to be done."},
	"customerMissing":       {"No customer", "Add the number of the store’s customer, then read all again."},
	"customerUnknown":       {"The store has no such customer", "Give the contract a customer of this store, or let it stay."},
	"paymentMethodMissing":  {"No payment method that can be charged", "Have the customer add one, then read all again."},
	"paymentMethodOther":    {"Another payment method", "The contract’s own can no longer be charged: the customer’s newest one is taken."},
	"currencyOther":         {"Another currency", "The other service creates contracts in the store’s currency only, so it stays."},
	"intervalInvalid":       {"The interval cannot be taken over", "Change the contract’s frequency, then read all again."},
	"linesMissing":          {"No products", "Add a product to the contract, or cancel it."},
	"variantGone":           {"A product no longer exists", "Replace the product in the contract, then read all again."},
	"quantityInvalid":       {"A quantity is not valid", "Change the quantity in the contract, then read all again."},
	"membershipPlanUnknown": {"The membership plan is not named", "It stays until its plan group is made (beside contracts). To name another plan, end this move and start another one like it."},
	"planUnknown":           {"The selling plan is not named", "The product keeps its price and is on no plan. To keep its plan, make the plan group (beside contracts); to name another one, end this move and start another one like it."},
	"priceInvalid":          {"A price cannot be read", "Correct it in the contract, then read all again."},
	"currencyUnknown":       {"The currency is not known", "The contract stays where it is."},
	"deliveryMissing":       {"No delivery address", "Add street, city and country to the contract, then read all again."},
	"anchorByDates":         {"Orders fall on fixed days", "The interface creates no contract with an anchor: its orders to come are put on its days, and later ones are counted from them."},
	"anchorsMany":           {"Orders fall on several days of an interval", "The interface creates no contract with anchors: give it one day for each interval, then read all again."},
	"pausedWithoutDate":     {"Paused, without a date", "Its next order is one interval after it is resumed."},
	"dateMissing":           {"No date of the next order", "Set the date of its next order, then read all again."},
	"datePast":              {"The last order was not made", "Solve this where the contract is, then read all again."},
	"cancellationScheduled": {"A cancellation is scheduled", "It stays where it is until then. Nothing has to be done."},
	"declined":              {"The last charge was declined", "It is moved once the order is paid or given up."},
	"rowUnreadable":         {"A row cannot be read", "Correct it in the file, and upload the file again."},
	"contractTwice":         {"Rows of a contract stand apart", "Put them next to each other, or remove those that are too many, and upload the file again."},
	"rowTwice":              {"A row is in the file twice", "Remove one of them, or write both quantities in one row, and upload the file again."},
	"customerDiffers":       {"A customer’s number and address contradict another row", "Correct the number or the address in the file, and upload the file again."},
	"customerOther":         {"The e-mail address belongs to another customer", "Correct the number or the address in the file, and upload the file again."},
	"contractDiffers":       {"Rows of one contract differ", "What the first row says is taken."},
	"valueMissing":          {"A value is missing", "Add it to the file, and upload the file again."},
	"valueInvalid":          {"A value cannot be read", "Correct it in the file, and upload the file again."},
	"valueLeftOut":          {"A value cannot be read, and is left out", "It is not needed. Correct it if you want to keep it."},
	"amountAmbiguous":       {"An amount can be read in two ways", "Say how decimals are written, at the columns of the file."},
	"dateAmbiguous":         {"A date can be read in two ways", "Say whether the day or the month comes first, at the columns of the file."},
	"skuUnknown":            {"The store has no such SKU", "Correct the SKU, or give the number of the variant."},
	"discountByHand":        {"Discount codes become discounts by hand", "Prices stay as they are: the code is not redeemed again."},
}

// host returns the name by which pages call the other service.
func host(m moving.Move) string {
	if u, err := url.Parse(m.Peer.Address); err == nil && u.Host != "" {
		return u.Host
	}
	return m.Peer.Address
}

// title names a move.
func title(m moving.Move) string {
	switch {
	case m.File != nil:
		return "Move from the file " + m.File.Name
	case m.Direction == moving.Out:
		return "Move to " + host(m)
	}
	return "Move from " + host(m)
}

// places are the words for the service that is left and for the one that contracts come to.
type places struct{ Left, Come string }

func placesOf(m moving.Move) places {
	left, come := m.Places()
	if m.File != nil {
		left = "where they are"
	}
	return places{left, come}
}

// badge says how far a move is.
func badge(m moving.Move) dashboard.Badge {
	switch {
	case m.Status == moving.Ended:
		return dashboard.Badge{Tone: dashboard.Neutral, Text: "Ended"}
	case m.Paused:
		return dashboard.Badge{Tone: dashboard.Warning, Text: "Paused", Hollow: true}
	case m.Status == moving.Mapping:
		return dashboard.Badge{Tone: dashboard.Warning, Text: "Columns to name", Hollow: true}
	case m.Failure != "":
		return dashboard.Badge{Tone: dashboard.Bad, Text: "Other service fails"}
	case m.ReadAt.IsZero():
		return dashboard.Badge{Tone: dashboard.Info, Text: "Reading"}
	case m.Wave > 0:
		return dashboard.Badge{Tone: dashboard.Info, Text: "Moving"}
	}
	if m.File != nil {
		return dashboard.Badge{Tone: dashboard.Info, Text: "Read"}
	}
	return dashboard.Badge{Tone: dashboard.Info, Text: "Comparing"}
}

// step is one of the three parts of a move.
type step struct {
	Number      int
	Name, About string
	Done, Here  bool
}

// stepsOfFile returns the parts of a move from a file, and which one it is in.
func stepsOfFile(m moving.Move, left int) []step {
	named, read, moves := m.Status != moving.Mapping, !m.ReadAt.IsZero(), m.Wave > 0
	open := m.Open()
	return []step{
		{1, "Columns", "You say what they are", named, open && !named},
		{2, "Reading", "Nothing is changed anywhere", named && read, open && named && !read},
		{3, "Creating", "In waves that you begin", moves && m.Wave == 100 && left == 0, open && read && (m.Wave < 100 || left > 0)},
	}
}

// stepsOf returns the parts of a move, and which one it is in.
func stepsOf(m moving.Move, left int) []step {
	if m.File != nil {
		return stepsOfFile(m, left)
	}
	read, moves := !m.ReadAt.IsZero(), m.Wave > 0
	open := m.Open()
	return []step{
		{1, "Reading", "Nothing is changed anywhere", read, open && !read},
		{2, "Comparing", "Each order, with the planned one", read && (moves || !open), open && read && !moves},
		{3, "Moving", "In waves that you begin", moves && m.Wave == 100 && left == 0, open && moves && (m.Wave < 100 || left > 0)},
	}
}
