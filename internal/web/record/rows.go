package record

import (
	"context"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/bundle"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Rows writes contracts of a line as rows, with what bundles and plan groups say of
// them.
type Rows struct {
	Line    shop.Line
	Sold    Catalogues
	OneOffs OneOffs
	Mails   Mails
}

// Mails knows what became of messages.
type Mails interface {
	// CreatedMails returns it for the messages that confirm new contracts, by contract.
	CreatedMails(ctx context.Context, of shop.ID, contracts []contract.ID) (map[contract.ID]notify.Results, error)
	// SuppressedAddresses says which of addresses get no e-mails any more, because one came back.
	SuppressedAddresses(ctx context.Context, of shop.ID, addresses []string) (map[string]bool, error)
}

// OneOffs reads the one-time products of upcoming orders.
type OneOffs interface {
	WaitingOneOffs(ctx context.Context, of shop.ID, contracts []contract.ID) ([]billing.OneOff, error)
}

// Catalogues reads what a line sells by.
type Catalogues interface {
	// Catalogue returns the line's bundles, oldest first, and the options of its
	// plan groups by their selling plans. They must not be changed.
	Catalogue(ctx context.Context, of shop.Shop, line shop.Line) ([]bundle.Settings, map[int64]plan.Offer, error)
}

// Write returns the rows, in the order of the contracts.
func (r Rows) Write(ctx context.Context, of shop.Shop, contracts []contract.Contract) ([]ContractRow, error) {
	rows := make([]ContractRow, len(contracts))
	if len(contracts) == 0 {
		return rows, nil
	}
	bundles, offers, err := r.Sold.Catalogue(ctx, of, r.Line)
	if err != nil {
		return nil, err
	}
	once, err := r.oneOffs(ctx, of.ID, contracts)
	if err != nil {
		return nil, err
	}
	ids := make([]contract.ID, len(contracts))
	addresses := make([]string, len(contracts))
	for i, c := range contracts {
		ids[i], addresses[i] = c.ID, c.Customer.Email
	}
	gone, err := r.Mails.SuppressedAddresses(ctx, of.ID, addresses)
	if err != nil {
		return nil, err
	}
	created, err := r.Mails.CreatedMails(ctx, of.ID, ids)
	if err != nil {
		return nil, err
	}
	for i, c := range contracts {
		if rows[i], err = newContractRow(of, c, created[c.ID], once[c.ID], bundles, offers); err != nil {
			return nil, fault.Because(fault.Internal, err, "contract %s cannot be shown", gid.Of(ContractTypename, int64(c.ID)))
		}
		rows[i].EmailBouncedOrFailed = gone[c.Customer.Email]
	}
	return rows, nil
}

// oneOffs returns the one-time products of the upcoming orders of contracts that have
// any.
func (r Rows) oneOffs(ctx context.Context, of shop.ID, contracts []contract.Contract) (map[contract.ID][]billing.OneOff, error) {
	var carrying []contract.ID
	for _, c := range contracts {
		if c.OneOffs > 0 {
			carrying = append(carrying, c.ID)
		}
	}
	if len(carrying) == 0 {
		return nil, nil
	}
	list, err := r.OneOffs.WaitingOneOffs(ctx, of, carrying)
	once := make(map[contract.ID][]billing.OneOff, len(carrying))
	for _, o := range list {
		once[o.Contract] = append(once[o.Contract], o)
	}
	return once, err
}
