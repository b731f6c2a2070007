package plan

import (
	"slices"
	"strings"
)

// Eligible reports whether somebody with the tags may choose the option. Entitled
// says whether they are a member now; guests have no tags and are not. A tag that
// excludes wins over everything.
func (o Option) Eligible(tags []string, entitled bool) bool {
	inclusive := splitTags(o.InclusiveTags)
	if anyTag(tags, splitTags(o.ExclusiveTags)) {
		return false
	}
	member := anyTag(tags, inclusive)
	if len(inclusive) == 0 {
		member = entitled
	}
	switch {
	case o.MemberOnly:
		return member
	case o.NonMemberOnly:
		return !member
	}
	return len(inclusive) == 0 || member
}

// splitTags reads a comma-separated list of tags.
func splitTags(list string) []string {
	var tags []string
	for t := range strings.SplitSeq(list, ",") {
		if t = strings.TrimSpace(t); t != "" {
			tags = append(tags, t)
		}
	}
	return tags
}

// anyTag reports whether the lists have a tag in common, in any letter case.
func anyTag(have, wanted []string) bool {
	return slices.ContainsFunc(have, func(t string) bool {
		return slices.ContainsFunc(wanted, func(w string) bool { return strings.EqualFold(strings.TrimSpace(t), w) })
	})
}

// Tags are what an order brings about: tags for the customer and for the order.
type Tags struct{ Customer, Order []string }

// TagsFor returns the tags of an order on one of the group's options: its first,
// from the checkout, or a renewal.
func TagsFor(g Group, renewal bool) Tags {
	if renewal {
		return Tags{Customer: splitTags(g.CustomerTag), Order: splitTags(g.MemberOrderTag)}
	}
	return Tags{Customer: splitTags(g.CustomerTag), Order: splitTags(g.OrderTag)}
}
