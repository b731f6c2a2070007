package shopify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/admin"
)

// contractsAtOnce is how many contracts one document asks for: few enough to
// stay under the limit of a document if the platform counts each of them.
const contractsAtOnce = 7

// maxRestarts is how often a contract that changes while its pages are read is
// read again.
const maxRestarts = 3

// The names of the platform's types in graph ids.
const (
	typeContract = "SubscriptionContract"
	typeAttempt  = "SubscriptionBillingAttempt"
	typeCustomer = "Customer"
	typeOrder    = "Order"
	typeShop     = "Shop"
)

// Contracts returns the contracts with the given ids, in their order.
func (c *Client) Contracts(ctx context.Context, shop platform.Shop, ids []int64) ([]platform.Contract, error) {
	if len(ids) > platform.MaxIDs {
		return nil, fmt.Errorf("read %d contracts at once: at most %d", len(ids), platform.MaxIDs)
	}
	s := c.session(shop)
	contracts := make([]platform.Contract, 0, len(ids))
	for len(ids) > 0 {
		n := min(len(ids), contractsAtOnce)
		nodes, err := s.contractNodes(ctx, ids[:n])
		if err != nil {
			return nil, fmt.Errorf("read contracts: %w", err)
		}
		for _, node := range nodes {
			k, err := s.wholeContract(ctx, node)
			if errors.Is(err, platform.ErrNotFound) {
				continue // gone since the first page was read
			}
			if err != nil {
				return nil, fmt.Errorf("read contract %s: %w", node.Id, err)
			}
			contracts = append(contracts, k)
		}
		ids = ids[n:]
	}
	return contracts, nil
}

// contractNodes returns the contracts that exist, with their first lines.
func (s session) contractNodes(ctx context.Context, ids []int64) ([]*admin.ContractFields, error) {
	graphIDs := make([]string, len(ids))
	for i, id := range ids {
		graphIDs[i] = gid.Of(typeContract, id)
	}
	var got struct {
		Nodes []*admin.ContractFields `json:"nodes"`
	}
	if err := s.nodes(ctx, "Contracts", admin.Contracts_Operation, graphIDs, &got); err != nil {
		return nil, err
	}
	if len(got.Nodes) != len(ids) {
		return nil, errNodes(len(got.Nodes), len(ids))
	}
	found := got.Nodes[:0]
	for _, n := range got.Nodes {
		if n != nil && n.Id != "" {
			found = append(found, n)
		}
	}
	return found, nil
}

// wholeContract turns a contract into ours and reads the rest of its lines. All
// pages are of one revision.
func (s session) wholeContract(ctx context.Context, first *admin.ContractFields) (platform.Contract, error) {
	page := first
	for range maxRestarts {
		whole := page
		lines := page.Lines.Nodes
		for page.Lines.PageInfo.HasNextPage {
			got, err := admin.ContractPage(ctx, s, first.Id, page.Lines.PageInfo.EndCursor)
			if err != nil {
				return platform.Contract{}, err
			}
			if page = got.SubscriptionContract; page == nil {
				return platform.Contract{}, platform.ErrNotFound
			}
			if page.RevisionId != whole.RevisionId {
				break
			}
			lines = append(lines, page.Lines.Nodes...)
		}
		if page.RevisionId == whole.RevisionId {
			return newContract(whole, lines)
		}
		got, err := admin.ContractPage(ctx, s, first.Id, "")
		if err != nil {
			return platform.Contract{}, err
		}
		if page = got.SubscriptionContract; page == nil {
			return platform.Contract{}, platform.ErrNotFound
		}
	}
	return platform.Contract{}, fmt.Errorf("%w: the contract changes faster than it can be read", platform.ErrUnknown)
}

// ContractsUpdatedSince returns a page of up to 250 ids.
func (c *Client) ContractsUpdatedSince(ctx context.Context, shop platform.Shop, since time.Time, cursor string) (ids []int64, next string, err error) {
	// The search knows whole seconds: a contract may be reported once too often.
	query := "updated_at:>='" + since.UTC().Truncate(time.Second).Format(time.RFC3339) + "'"
	got, err := admin.ContractsUpdated(ctx, c.session(shop), query, cursor)
	if err != nil {
		return nil, "", fmt.Errorf("read the contracts updated since %s: %w", since.UTC().Format(time.RFC3339), err)
	}
	page := got.SubscriptionContracts
	if ids, err = contractIDs(nil, page.Nodes); err != nil {
		return nil, "", err
	}
	if page.PageInfo.HasNextPage {
		next = page.PageInfo.EndCursor
	}
	return ids, next, nil
}

// ContractsPaidWith returns all ids, however many pages they take.
func (c *Client) ContractsPaidWith(ctx context.Context, shop platform.Shop, paymentMethod string) ([]int64, error) {
	var ids []int64
	for cursor, more := "", true; more; {
		got, err := admin.ContractsPaidWith(ctx, c.session(shop), paymentMethod, cursor)
		if err != nil {
			return nil, fmt.Errorf("read the contracts of a payment method: %w", err)
		}
		if got.CustomerPaymentMethod == nil {
			return nil, fmt.Errorf("payment method %s: %w", paymentMethod, platform.ErrNotFound)
		}
		page := got.CustomerPaymentMethod.SubscriptionContracts
		if ids, err = contractIDs(ids, page.Nodes); err != nil {
			return nil, err
		}
		cursor, more = page.PageInfo.EndCursor, page.PageInfo.HasNextPage
	}
	return ids, nil
}

// CustomerContracts returns all ids, however many pages they take.
func (c *Client) CustomerContracts(ctx context.Context, shop platform.Shop, customer int64) ([]int64, error) {
	var ids []int64
	for cursor, more := "", true; more; {
		got, err := admin.CustomerContracts(ctx, c.session(shop), gid.Of(typeCustomer, customer), cursor)
		if err == nil && got.Customer == nil {
			err = platform.ErrNotFound
		}
		if err != nil {
			return nil, fmt.Errorf("read the contracts of customer %d: %w", customer, err)
		}
		page := got.Customer.SubscriptionContracts
		if ids, err = contractIDs(ids, page.Nodes); err != nil {
			return nil, err
		}
		cursor, more = page.PageInfo.EndCursor, page.PageInfo.HasNextPage
	}
	return ids, nil
}

// contractIDs appends the numeric ids of the nodes to ids.
func contractIDs(ids []int64, nodes []admin.ContractID) ([]int64, error) {
	for _, n := range nodes {
		id, err := gid.Parse(typeContract, n.Id)
		if err != nil {
			return nil, unknown(err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}
