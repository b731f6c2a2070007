package plan

import "strings"

// SplitTags reads a comma-separated list of tags.
func SplitTags(list string) []string {
	var tags []string
	for t := range strings.SplitSeq(list, ",") {
		if t = strings.TrimSpace(t); t != "" {
			tags = append(tags, t)
		}
	}
	return tags
}

// Tags are what an order brings about: tags for the customer and for the order.
type Tags struct{ Customer, Order []string }

// TagsFor returns the tags of an order on one of the group's options: its first,
// from the checkout, or a renewal.
func TagsFor(g Group, renewal bool) Tags {
	if renewal {
		return Tags{Customer: SplitTags(g.CustomerTag), Order: SplitTags(g.MemberOrderTag)}
	}
	return Tags{Customer: SplitTags(g.CustomerTag), Order: SplitTags(g.OrderTag)}
}
