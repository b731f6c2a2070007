package admin

import (
	"math"
	"net/url"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
)

// maxQueryText is the length of a parameter of a search, in characters.
const maxQueryText = 255

// ContractFilter reads the query string of a list of contracts, with the parameters of the
// search, as what it finds. The line is subscriptions, unless line says MEMBERSHIP. The search
// of the dashboard also has failing=true and ending=true, as the filter's fields. What orders
// a list and chooses its page is ignored; any other parameter is Invalid, because without it
// more would be found.
func ContractFilter(query string, zone *time.Location) (contract.Filter, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return contract.Filter{}, fault.Because(fault.Invalid, err, "the query of the search cannot be read").Field("query")
	}
	var q contractQuery
	line, cases := shop.Subscriptions, contract.Filter{}
	texts := map[string]*string{
		"fromCreatedDate": &q.FromCreated, "toCreatedDate": &q.ToCreated, "fromUpdatedDate": &q.FromUpdated, "toUpdatedDate": &q.ToUpdated, "fromNextDate": &q.FromNext, "toNextDate": &q.ToNext,
		"subscriptionContractId": &q.ID, "contractId": &q.OtherID, "customerName": &q.CustomerName, "orderName": &q.OrderName, "status": &q.Status, "billingPolicyInterval": &q.Interval,
		"planType": &q.PlanType, "recordType": &q.RecordType, "productId": &q.ProductID, "variantId": &q.VariantID, "sellingPlanId": &q.SellingPlanID,
		"customerId": &q.CustomerID, "customerEmail": &q.CustomerEmail,
	}
	for name, given := range values {
		value := given[0]
		switch field, known := texts[name]; {
		case name == "page" || name == "size" || name == "sort" || value == "":
		case len(given) > 1:
			return contract.Filter{}, fault.New(fault.Invalid, "the search has the parameter %q more than once", name).Field("query")
		case utf8.RuneCountInString(value) > maxQueryText:
			return contract.Filter{}, fault.New(fault.Invalid, "the parameter %q of the search is longer than %d characters", name, maxQueryText).Field("query")
		case known:
			*field = value
		case name == "line":
			if line, err = web.ParseEnum("line", value, []shop.Line{shop.Subscriptions, shop.Memberships}); err != nil {
				return contract.Filter{}, err
			}
		case name == "failing" || name == "ending":
			if _, err := web.ParseEnum(name, value, []string{"true"}); err != nil {
				return contract.Filter{}, err
			}
			cases.Failing, cases.Ending = cases.Failing || name == "failing", cases.Ending || name == "ending"
		case name == "billingPolicyIntervalCount":
			if q.IntervalCount, err = strconv.ParseInt(value, 10, 32); err != nil || q.IntervalCount < 1 {
				return contract.Filter{}, fault.New(fault.Invalid, "%.20q is not a number of intervals", value).Field(name)
			}
		case name == "minOrderAmount", name == "maxOrderAmount":
			amount, err := strconv.ParseFloat(value, 64)
			if err != nil || math.IsNaN(amount) {
				return contract.Filter{}, fault.New(fault.Invalid, "%.20q is not an amount", value).Field(name)
			}
			if name == "minOrderAmount" {
				q.MinAmount = web.Opt[float64]{Set: true, Value: amount}
			} else {
				q.MaxAmount = web.Opt[float64]{Set: true, Value: amount}
			}
		default:
			return contract.Filter{}, fault.New(fault.Invalid, "the search has the parameter %.40q, which is not known here", name).Field("query")
		}
	}
	f, err := q.filter(zone)
	f.Line, f.Failing, f.Ending = line, cases.Failing, cases.Ending
	return f, err
}
