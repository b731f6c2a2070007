package peer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// partsAtOnce is how many parts a page lists; the interface allows 100 of each kind.
const partsAtOnce = 100

// Codes of failures that a list of parts has where the other service has no such list.
const (
	operationMissing = "operationMissing"
	interfaceMissing = "interfaceMissing"
	scopeMissing     = "scopeMissing"
)

// partPaths are the lists of parts.
var partPaths = map[moving.PartKind]string{
	moving.GroupPart: "/subscription-groups", moving.RulePart: "/product-swaps", moving.BundlePart: "/subscription-bundle-settings", moving.MemberPart: "/top-customers",
}

// Parts returns a page of the parts of a kind. It is NotFound when the service has no list of them, and
// a FailedPrecondition when the key may not read it.
func (e *End) Parts(ctx context.Context, of shop.Shop, kind moving.PartKind, line shop.Line, page int) (moving.PartPage, error) {
	path, is := partPaths[kind]
	if !is {
		return moving.PartPage{}, fault.New(fault.NotFound, "the interface has no list of %s", kind).Entity("move").Code(operationMissing)
	}
	query := url.Values{"page": {strconv.Itoa(page)}, "size": {strconv.Itoa(partsAtOnce)}}
	c := call{method: http.MethodGet, path: path, line: line, query: query, loyalty: kind == moving.MemberPart}
	var list moving.PartPage
	var err error
	switch kind {
	case moving.GroupPart:
		list, err = pageOf(ctx, e, c, of, groupShape.part)
	case moving.RulePart:
		list, err = pageOf(ctx, e, c, of, ruleShape.part)
	case moving.BundlePart:
		list, err = pageOf(ctx, e, c, of, bundleShape.part)
	default:
		list, err = pageOf(ctx, e, c, of, topShape.part)
	}
	switch f, _ := errors.AsType[*fault.Error](err); {
	case f == nil:
	case lacks(err):
		err = fault.Because(fault.NotFound, err, "the other service has no list of %s", kind).Entity("move").Code(operationMissing)
	case f.ErrorKey == scopeMissing:
		err = fault.Because(fault.FailedPrecondition, err, "the key may not read the list of %s", kind).Entity("move").Code(scopeMissing)
	}
	for n := range list.Parts {
		list.Parts[n].Kind, list.Parts[n].Line = kind, line
	}
	return list, about(err, "list %s", path)
}

// pageOf reads a page of a list. Rows without a number are left out.
func pageOf[S any](ctx context.Context, e *End, c call, of shop.Shop, part func(S, shop.Shop) moving.Part) (moving.PartPage, error) {
	var rows list[S]
	if _, err := e.send(ctx, c, &rows); err != nil {
		return moving.PartPage{}, err
	}
	page := moving.PartPage{More: len(rows.nodes) >= partsAtOnce}
	for _, r := range rows.nodes {
		if p := part(r, of); p.There != "" {
			page.Parts = append(page.Parts, p)
		}
	}
	return page, nil
}

// Member returns a member of the loyalty programme as it is now, or NotFound.
func (e *End) Member(ctx context.Context, of shop.Shop, customer int64) (moving.Member, error) {
	var is memberShape
	query := url.Values{"shop": {of.Domain}, "customer_id": {strconv.FormatInt(customer, 10)}}
	if _, err := e.send(ctx, call{method: http.MethodGet, path: "/customer-loyalty", query: query, loyalty: true}, &is); err != nil {
		return moving.Member{}, about(err, "read member %d", customer)
	}
	if int64(is.Customer) != customer {
		return moving.Member{}, fault.New(fault.Unavailable, "the other service answered with customer %d when it was asked for %d", is.Customer, customer).Entity("move").Code("otherCustomer")
	}
	return is.member(), nil
}

func keyOf(n id) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprint(int64(n))
}

func nameOf(texts ...word) string {
	var parts []string
	for _, t := range texts {
		if t != "" {
			parts = append(parts, string(t))
		}
	}
	return strings.Join(parts, " ")
}
