package swap

// PreviewLength is how many orders a preview has.
const PreviewLength = 10

// Preview is one order as the rules would make it.
type Preview struct {
	Cycle     int
	ShiftDays int // by how much this order's date has moved, in all
	Lines     []LineItem
	Applied   []Rule
}

// Split separates rules that change the contract from those that change one order, each
// in their sequence.
func Split(rules []Rule) (lasting, single []Rule) {
	sorted := append([]Rule(nil), rules...)
	Sort(sorted)
	for _, r := range sorted {
		if r.OneOrderOnly() {
			single = append(single, r)
		} else {
			lasting = append(lasting, r)
		}
	}
	return lasting, single
}

// Prices returns the lines of an upcoming order at its prices, and what rules need to
// know of products for it. Ahead is 0 for the next order.
type Prices func(o Order, ahead int) ([]LineItem, Catalogue, error)

// PreviewOrders returns the orders of cycles, beginning with o: prices that
// begin with an order apply first, then rules that change the contract, then rules for
// the order alone.
func PreviewOrders(rules []Rule, o Order, cycles []int, prices Prices) ([]Preview, error) {
	lasting, single := Split(rules)
	used := make(map[ID]bool, len(o.Used))
	for id := range o.Used {
		used[id] = true
	}
	o.Used = used
	shift := 0
	list := make([]Preview, 0, len(cycles))
	for ahead, cycle := range cycles {
		o.Cycle = cycle
		lines, c, err := prices(o, ahead)
		if err != nil {
			return nil, err
		}
		o.Lines = lines
		changed := Apply(lasting, o, c)
		for _, r := range changed.Applied {
			used[r.ID] = true
		}
		o.Lines = changed.Lines
		once := Apply(single, o, c)
		list = append(list, Preview{Cycle: o.Cycle, ShiftDays: shift, Lines: once.Lines, Applied: append(changed.Applied, once.Applied...)})
		shift += changed.ShiftDays + once.ShiftDays
		o.First = false
	}
	return list, nil
}
