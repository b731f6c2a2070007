package admin

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

// contractsOfCustomer is how many contracts are shown with a customer at once: the
// platform is asked for all of them, and each costs as much as one that is read
// alone.
const contractsOfCustomer = 20

// Shown knows what the platform shows of a customer.
type Shown interface {
	Tags(ctx context.Context, of shop.ID, customer int64) ([]string, error)
	// Details returns the contracts with all that is shown of them; without what the
	// platform knows while it does not answer.
	Details(ctx context.Context, of shop.ID, known []contract.Contract) ([]contract.Detail, error)
}

// customerView shows a customer with contracts.
type customerView struct {
	line      shop.Line
	customers contract.Customers
	shown     Shown
}

type customerQuery struct {
	Customer string `path:"customerId" example:"7001" doc:"The customer: number or graph id, percent-encoded."`
	Cursor   string `query:"cursor" maxLength:"100" doc:"Contracts after this place: endCursor of the page before."`
}

// customerAnswer is a customer as the platform would show it.
type customerAnswer struct {
	Typename    string            `json:"__typename" enum:"Customer" doc:"Name of the object's type at the platform." example:"Customer"`
	GetTypename string            `json:"get__typename" enum:"Customer" doc:"The same as __typename."`
	ID          string            `json:"id" example:"gid://shopify/Customer/7001" doc:"Graph id."`
	Email       *string           `json:"email" doc:"E-mail address; null when there is none." example:"ada@example.com"`
	Phone       *string           `json:"phone" doc:"Telephone number; null when there is none." example:"+16135550101"`
	FirstName   *string           `json:"firstName" doc:"First name; null when there is none." example:"Ada"`
	LastName    *string           `json:"lastName" doc:"Last name; null when there is none." example:"Khan"`
	DisplayName *string           `json:"displayName" doc:"Name as the platform shows it; null when there is none." example:"Ada Khan"`
	Standing    string            `json:"productSubscriberStatus" enum:"ACTIVE,PAUSED,CANCELLED,EXPIRED,FAILED,NEVER_SUBSCRIBED" doc:"ACTIVE with an active contract, else PAUSED with a paused one, else the status of the newest contract."`
	Tags        []string          `json:"tags" doc:"The customer's tags at the platform; null while it does not answer." example:"vip,subscriber"`
	PaidThrough *web.Instant      `json:"paidThrough" format:"date-time" doc:"Until when orders have been paid, by any of the contracts: the end of the term that the latest order began." example:"2026-01-31T08:00:00Z"`
	Contracts   customerContracts `json:"subscriptionContracts" doc:"A page of the customer's contracts. While the platform does not answer they lack what only it knows: the instrument, the delivery method, fulfilment orders and charges."`
}

// customerContracts is a page of a customer's contracts.
type customerContracts struct {
	Nodes    []record.ContractObject `json:"nodes" nullable:"false" doc:"The contracts."`
	Edges    []customerContractEdge  `json:"edges" nullable:"false" doc:"The same, each wrapped in an edge."`
	PageInfo record.PageInfo         `json:"pageInfo" doc:"Where the page lies in the whole list."`
}

type customerContractEdge struct {
	Cursor string                `json:"cursor" doc:"Place of the contract in the list, for the parameter cursor." example:"MTczODMxMDQwMDAwMDo5MDAx"`
	Node   record.ContractObject `json:"node" doc:"The contract."`
}

type customerOut struct {
	Body customerAnswer
}

// tags asks the platform for a customer's tags. It must not be there for the rest
// to be answered.
func (h customerView) tags(ctx context.Context, caller web.Caller, customer int64) []string {
	tags, err := h.shown.Tags(ctx, caller.Shop.ID, customer)
	if err != nil {
		return nil
	}
	return tags
}

// customer answers with nothing when the customer is not known.
func (h customerView) customer(ctx context.Context, in *customerQuery) (*customerOut, error) {
	caller := web.CallerOf(ctx)
	customer, err := web.ParseID("Customer", "customerId", in.Customer)
	if err != nil {
		return nil, err
	}
	after, err := parseMark(in.Cursor)
	if err != nil {
		return nil, err
	}
	cal, err := caller.Shop.Calendar()
	if err != nil {
		return nil, err
	}
	contracts, err := h.customers.ContractsOf(ctx, caller.Shop.ID, h.line, customer)
	if err != nil || len(contracts) == 0 {
		return nil, err
	}
	from, to := pageAfter(contracts, after)
	details, err := h.shown.Details(ctx, caller.Shop.ID, contracts[from:to])
	if err != nil {
		return nil, err
	}
	who := contracts[len(contracts)-1].Customer
	return &customerOut{customerAnswer{
		Typename: "Customer", GetTypename: "Customer", ID: gid.Of("Customer", customer),
		Email: web.Some(who.Email), Phone: web.Some(who.Phone), FirstName: web.Some(who.FirstName), LastName: web.Some(who.LastName), DisplayName: web.Some(who.Name),
		Standing: string(contract.CustomerStatusOf(contracts)), Tags: h.tags(ctx, caller, customer), PaidThrough: web.At(contract.PaidThrough(contracts, cal)),
		Contracts: newCustomerContracts(details, record.PageInfo{HasPreviousPage: from > 0, HasNextPage: to < len(contracts)}),
	}}, nil
}

// pageAfter returns where the page that begins after a place begins and ends.
func pageAfter(contracts []contract.Contract, after mark) (from, to int) {
	from = slices.IndexFunc(contracts, after.before)
	if from < 0 {
		from = len(contracts)
	}
	return from, min(from+contractsOfCustomer, len(contracts))
}

func newCustomerContracts(details []contract.Detail, lies record.PageInfo) customerContracts {
	page := customerContracts{
		Nodes: make([]record.ContractObject, 0, len(details)), Edges: make([]customerContractEdge, 0, len(details)), PageInfo: lies,
	}
	for _, d := range details {
		node := record.NewContractObject(d)
		page.Nodes = append(page.Nodes, node)
		page.Edges = append(page.Edges, customerContractEdge{Cursor: markOf(d.Contract).String(), Node: node})
	}
	if len(page.Edges) > 0 {
		page.PageInfo.StartCursor, page.PageInfo.EndCursor = new(page.Edges[0].Cursor), new(page.Edges[len(page.Edges)-1].Cursor)
	}
	return page
}

// mark is a place in a list of contracts that begins with the oldest.
type mark struct {
	created int64 // Unix milliseconds
	id      contract.ID
}

func markOf(c contract.Contract) mark { return mark{c.CreatedAt.UnixMilli(), c.ID} }

// before reports whether the place lies before a contract.
func (m mark) before(c contract.Contract) bool {
	of := markOf(c)
	return m.created < of.created || m.created == of.created && m.id < of.id
}

// String encodes the cursor so that clients do not depend on its content.
func (m mark) String() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d:%d", m.created, m.id))
}

// parseMark reads a cursor. An empty one lies before every contract.
func parseMark(cursor string) (mark, error) {
	if cursor == "" {
		return mark{created: (time.Time{}).UnixMilli()}, nil
	}
	var m mark
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		_, err = fmt.Sscanf(string(text), "%d:%d", &m.created, &m.id)
	}
	if err != nil || m.String() != cursor {
		return m, fault.New(fault.Invalid, "parameter 'cursor' is not one that this operation has given").Code("cursorInvalid").Field("cursor")
	}
	return m, nil
}
