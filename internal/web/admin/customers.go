package admin

import (
	"context"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/record"
)

// Page sizes of the list of customers.
const (
	defaultCustomers = 20
	maxCustomers     = 2000
)

var (
	customerList   = web.List{Default: defaultCustomers, Max: maxCustomers, Fields: contract.CustomerSortFields}
	theirContracts = web.List{Default: contract.MaxPage, Max: contract.MaxPage, Fields: contract.SortFields}
)

// Syncer reads what the platform holds. Failures are faults.
type Syncer interface {
	SyncCustomer(ctx context.Context, of shop.ID, customer int64) error
}

// customerHandlers show customers.
type customerHandlers struct {
	customerView
	contractSearch

	edits  *contractedit.Service
	syncer Syncer
}

func (h customerHandlers) register(api *web.API) {
	list := web.Operation{Method: http.MethodGet, Tag: "Customers", Scope: access.ContractsRead}

	valid := list
	valid.ID, valid.Path, valid.Summary = "listCustomerContractIds", base+"/subscription-customers/valid/{id}", "Contract numbers of a customer"
	valid.Description = "The numbers of all contracts of a customer, ascending; an empty list for a customer who has none or is not known."
	web.Register(api, valid, h.contractIDs)

	rows := list
	rows.ID, rows.Path, rows.Summary = "listCustomerContracts", base+"/subscription-customers-detail/valid/{customerId}", "Contract rows of a customer"
	rows.Description = "The contracts of a customer as rows of the contract search, oldest first. A page holds all of them unless a size is given: at most 2000."
	rows.List = &theirContracts
	web.Register(api, rows, h.customerRows)

	one := list
	one.ID, one.Path, one.Summary = "getCustomer", base+"/subscription-customers/{customerId}", "A customer with contracts"
	one.Description = "A customer and a page of the customer's contracts, oldest first. The next page is asked for with the cursor that pageInfo names. " +
		"A customer who is not known is answered with status 200 and no body."
	web.Register(api, one, h.customer)

	all := list
	all.ID, all.Path, all.Summary = "searchCustomers", base+"/subscription-contract-details/customers", "Search customers"
	all.Description = "Customers who have contracts, with what their contracts come to, by their numbers unless they are sorted otherwise. At most 2000 in a page."
	all.List = &customerList
	web.Register(api, all, h.searchCustomers)

	methods := list
	methods.ID, methods.Path, methods.Summary = "listCustomerPaymentMethods", base+"/subscription-contract-details/shopify/customer/{customerId}/payment-methods", "Payment methods of a customer"
	methods.Description = "The payment methods that the platform has of the customer, those included that were revoked; none of a customer who is not known. " +
		"The fields of a line of a contract are there too, and have no value."
	web.Register(api, methods, h.customerPayments)

	sync := list
	sync.ID, sync.Path, sync.Summary = "syncCustomer", base+"/subscription-customers/sync-info/{customerId}", "Read a customer's contracts from the platform"
	sync.Description = "Reads all contracts of a customer from the platform and stores what has changed. Normal operation does not need this call: webhooks and a regular reconciliation do the same. 404 when the platform has no such customer."
	sync.Status, sync.Errors = http.StatusNoContent, []int{http.StatusNotFound}
	web.Register(api, sync, h.syncCustomer)
}

func (h customerHandlers) syncCustomer(ctx context.Context, in *ofCustomer) (*struct{}, error) {
	customer, err := web.ParseID("Customer", "customerId", in.Customer)
	if err != nil {
		return nil, err
	}
	return nil, h.syncer.SyncCustomer(ctx, web.CallerOf(ctx).Shop.ID, customer)
}

type ofCustomer struct {
	Customer string `path:"customerId" format:"id" example:"7001" doc:"The customer: number or graph id, percent-encoded."`
}

type paymentsOut struct {
	Body record.PaymentConnection
}

func (h customerHandlers) customerPayments(ctx context.Context, in *ofCustomer) (*paymentsOut, error) {
	customer, err := web.ParseID("Customer", "customerId", in.Customer)
	if err != nil {
		return nil, err
	}
	methods, err := h.edits.PaymentMethods(ctx, web.CallerOf(ctx).Shop.ID, customer)
	if err != nil {
		return nil, err
	}
	return &paymentsOut{record.NewPaymentConnection(methods)}, nil
}

type customerIDQuery struct {
	ID string `path:"id" example:"7001" doc:"The customer: number or graph id, percent-encoded."`
}

type contractIDs struct {
	web.ListHeaders
	Body []int64 `nullable:"false"`
}

func (h customerHandlers) contractIDs(ctx context.Context, in *customerIDQuery) (*contractIDs, error) {
	caller := web.CallerOf(ctx)
	customer, err := web.ParseID("Customer", "id", in.ID)
	if err != nil {
		return nil, err
	}
	ids, err := h.customers.ContractIDs(ctx, caller.Shop.ID, h.line, customer)
	if err != nil {
		return nil, err
	}
	out := &contractIDs{ListHeaders: web.Whole(ctx, len(ids)), Body: make([]int64, len(ids))}
	for i, id := range ids {
		out.Body[i] = int64(id)
	}
	return out, nil
}

type customerRowsQuery struct {
	web.Paging
	Customer string `path:"customerId" example:"7001" doc:"The customer: number or graph id, percent-encoded."`
}

func (h customerHandlers) customerRows(ctx context.Context, in *customerRowsQuery) (*contractPage, error) {
	p, err := in.Request(theirContracts)
	if err != nil {
		return nil, err
	}
	customer, err := web.ParseID("Customer", "customerId", in.Customer)
	if err != nil {
		return nil, err
	}
	return h.find(ctx, contract.Filter{CustomerID: customer}, p)
}

// customersQuery is a search for customers.
type customersQuery struct {
	web.Paging
	Email   string `query:"email" maxLength:"255" example:"ann@example.com" doc:"The customer's whole e-mail address, in any letter case."`
	Name    string `query:"name" maxLength:"255" example:"ann" doc:"Part of the customer's name, in any letter case."`
	Several bool   `query:"activeMoreThanOneSubscription" doc:"Only customers with more than one active contract. Default false: all."`
}

// customerRow is a customer in a list.
type customerRow struct {
	ID         int64        `json:"customerId" example:"7001" doc:"The platform's number of the customer."`
	Name       *string      `json:"name" example:"Ann Lee" doc:"Name as the platform shows it; null when there is none."`
	Email      *string      `json:"email" format:"email" doc:"E-mail address; null when there is none." example:"ann@example.com"`
	Active     int32        `json:"activeSubscriptions" doc:"Contracts that are active." example:"2"`
	Inactive   int32        `json:"inActiveSubscriptions" doc:"Contracts that are paused, cancelled, expired or failed." example:"1"`
	NextOrder  *web.Instant `json:"nextOrderDate" format:"date-time" doc:"Of the active contracts' next orders, the first." example:"2026-01-31T08:00:00Z"`
	Lifetime   *float64     `json:"lifetimeValue" doc:"Sum of all renewal orders, in currencyCode, as they were charged, with taxes and delivery. An order that is refunded or cancelled at the platform later stays in it: the platform tells the service of neither. Null when the contracts have several currencies: amounts are not converted." example:"98"`
	Currency   *string      `json:"currencyCode" example:"USD" doc:"Null when the contracts have several."`
	CustomerID string       `json:"graphCustomerId" doc:"Graph id." example:"gid://shopify/Customer/7001"`
}

type customerPage struct {
	web.ListHeaders
	Body []customerRow
}

func (h customerHandlers) searchCustomers(ctx context.Context, in *customersQuery) (*customerPage, error) {
	caller := web.CallerOf(ctx)
	p, err := in.Request(customerList)
	if err != nil {
		return nil, err
	}
	f := contract.CustomerFilter{Line: h.line, Email: strings.TrimSpace(in.Email), NamePart: in.Name, Several: in.Several}
	customers, total, err := h.customers.Customers(ctx, caller.Shop.ID, f, p)
	if err != nil {
		return nil, err
	}
	out := &customerPage{ListHeaders: web.Paged(ctx, p, total), Body: make([]customerRow, len(customers))}
	for i, c := range customers {
		out.Body[i] = newCustomerRow(c)
	}
	return out, nil
}

func newCustomerRow(c contract.CustomerSummary) customerRow {
	row := customerRow{
		ID: c.ID, Name: web.Some(c.Name), Email: web.Some(c.Email), Active: int32(c.Active), Inactive: int32(c.Inactive),
		NextOrder: web.At(c.NextOrder), CustomerID: gid.Of("Customer", c.ID),
	}
	if !c.Mixed {
		row.Lifetime, row.Currency = new(c.Lifetime.Float()), web.Some(string(c.Lifetime.Currency))
	}
	return row
}
