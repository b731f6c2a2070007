package shopify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/admin"
	"github.com/perennialhq/perennial/internal/platform/shopify/wire"
)

// codeCommitted is the platform's refusal to commit a draft a second time.
const codeCommitted = "COMMITTED"

// EditContract opens a draft, changes it and commits it: three requests, unless
// the edit is large or answers are lost. A refusal of any of them leaves the
// contract as it was.
func (c *Client) EditContract(ctx context.Context, shop platform.Shop, contract int64, e platform.Edit) (platform.Detail, error) {
	d, err := c.session(shop).editContract(ctx, contract, &e)
	return d, about(err, "edit contract %d", contract)
}

func (s session) editContract(ctx context.Context, contract int64, e *platform.Edit) (platform.Detail, error) {
	ops := draftOps(e)
	if len(ops) == 0 {
		d, err := s.detail(ctx, contract)
		if err == nil && !isOf(e.Revision, d.Revision) {
			return platform.Detail{}, errStale()
		}
		return d, err
	}
	draft, err := s.prepare(ctx, e.Revision, ops, func() (*admin.Draft, error) {
		got, err := admin.OpenDraft(ctx, s, gid.Of(typeContract, contract))
		if err != nil {
			return nil, err
		}
		if got.Draft == nil {
			return nil, errNoPayload()
		}
		return opened(got.Draft.Draft, got.Draft.UserErrors)
	})
	if err != nil {
		return platform.Detail{}, err
	}
	raw, err := s.commit(ctx, "CommitDraft", admin.CommitDraft_Operation, draft)
	if err != nil {
		return platform.Detail{}, err
	}
	if isNull(raw) { // committed by a request whose answer was lost
		d, err := s.detail(ctx, contract)
		return d, afterwards(err)
	}
	return s.changed(ctx, contract, raw)
}

// DeliveryOptions opens a draft of the contract, which is never committed, and asks it. A way of
// shipping without a price is left out.
func (c *Client) DeliveryOptions(ctx context.Context, shop platform.Shop, contract int64, to platform.Address) ([]platform.DeliveryOption, bool, error) {
	options, known, err := c.session(shop).deliveryOptions(ctx, contract, to)
	return options, known, about(err, "read how orders of contract %d can be delivered", contract)
}

func (s session) deliveryOptions(ctx context.Context, contract int64, to platform.Address) (list []platform.DeliveryOption, known bool, err error) {
	address, err := json.Marshal(newAddressInput(to))
	if err != nil {
		return nil, false, fmt.Errorf("encode an address: %w", err)
	}
	var got *admin.DeliveryOptionsResponse
	if _, err = s.again(ctx, pauses(ctx), func() (err error) {
		got, err = admin.DeliveryOptions(ctx, s, gid.Of(typeContract, contract), address)
		return err
	}); err != nil {
		return nil, false, err
	}
	if got.Draft == nil {
		return nil, false, errNoPayload()
	}
	if r, ok := refused(got.Draft.UserErrors); ok {
		return nil, false, r
	}
	if got.Draft.Draft == nil || got.Draft.Draft.DeliveryOptions.Options == nil {
		return nil, false, nil
	}
	for _, o := range got.Draft.Draft.DeliveryOptions.Options {
		if o.Code == "" || o.Price == nil {
			continue
		}
		price, err := amount(*o.Price)
		if err != nil {
			return nil, false, err
		}
		list = append(list, platform.DeliveryOption{Code: o.Code, Title: o.Title, Price: price})
	}
	return list, true, nil
}

// afterwards turns a failure to read what was changed into platform.ErrUnknown:
// no other error may be taken for "nothing was done".
func afterwards(err error) error {
	if err == nil || errors.Is(err, platform.ErrUnknown) {
		return err
	}
	return fmt.Errorf("%w: it was changed and cannot be read: %w", platform.ErrUnknown, err)
}

// prepare opens a draft of the contract at the revision, makes the changes in it
// and returns its id. A draft that was not committed is nothing: when an answer is
// lost, another is begun.
func (s session) prepare(ctx context.Context, revision uint64, ops []draftOp, open func() (*admin.Draft, error)) (draft string, err error) {
	_, err = s.again(ctx, pauses(ctx), func() error {
		var d *admin.Draft
		if _, err := s.again(ctx, pauses(ctx), func() (err error) {
			d, err = open()
			return err
		}); err != nil {
			return lasting{err}
		}
		if revision != 0 {
			// The contract as it is now: had it changed before the draft was
			// opened, it would show. If it changes from here on, the platform
			// does not take the draft.
			if d.OriginalContract == nil {
				return errNoPayload()
			}
			if !isOf(revision, uint64(d.OriginalContract.RevisionId)) {
				return errStale()
			}
		}
		draft = d.Id
		return s.changeDraft(ctx, draft, ops)
	})
	return draft, err
}

// isOf reports whether an edit of the one revision may be made to the other.
func isOf(edit, contract uint64) bool { return edit == 0 || edit == contract }

// errStale is our own refusal of an edit, in the platform's words.
func errStale() error {
	return &platform.Refusal{Code: platform.CodeStale, Message: "The contract has changed since the revision that the edit is of."}
}

// opened returns a draft that was asked for.
func opened(d *admin.Draft, errs []wire.UserError) (*admin.Draft, error) {
	if r, ok := refused(errs); ok {
		return nil, r
	}
	if d == nil {
		return nil, errNoPayload()
	}
	return d, nil
}

// commit makes a draft's changes live and returns what they made. No other request knows
// the draft, so that after a lost answer a second commit shows the outcome of the first.
// It returns null when the first one succeeded.
func (s session) commit(ctx context.Context, name, text, draft string) (raw json.RawMessage, err error) {
	waits := pauses(ctx)
	if len(waits) == 0 {
		waits = []time.Duration{0} // the background asks once more, too
	}
	lost, err := s.again(ctx, waits, func() (err error) {
		raw, err = s.change(ctx, name, text, struct {
			Draft string `json:"draft"`
		}{draft})
		return err
	})
	if !lost {
		return raw, err
	}
	if r, ok := errors.AsType[*platform.Refusal](err); ok && r.Code == codeCommitted {
		return nil, nil
	}
	return raw, unsettled(err)
}

// change carries out one of the mutations whose payload, named done, has the
// contract that they changed. That a part of the contract cannot be read does
// not make it unchanged.
func (s session) change(ctx context.Context, name, text string, input any) (json.RawMessage, error) {
	variables, err := json.Marshal(input)
	if err != nil {
		return nil, fmt.Errorf("encode the variables of %s: %w", name, err)
	}
	var data struct {
		Done *wire.ContractPayload `json:"done"`
	}
	errs, err := s.ask(ctx, s.client.document(name, text), variables, &data)
	if err != nil {
		return nil, err
	}
	if data.Done == nil {
		if err := failure(errs); err != nil {
			return nil, err
		}
		return nil, errNoPayload()
	}
	if r, ok := refused(data.Done.UserErrors); ok {
		return nil, r
	}
	if isNull(data.Done.Contract) {
		return nil, errNoPayload()
	}
	return data.Done.Contract, nil
}

// statusMutations are the mutations that give a contract a status.
var statusMutations = map[string][2]string{
	"ACTIVE":    {"ActivateContract", admin.ActivateContract_Operation},
	"PAUSED":    {"PauseContract", admin.PauseContract_Operation},
	"CANCELLED": {"CancelContract", admin.CancelContract_Operation},
	"EXPIRED":   {"ExpireContract", admin.ExpireContract_Operation},
	"FAILED":    {"FailContract", admin.FailContract_Operation},
}

// SetStatus gives a contract a status, again when the answer is lost. What the
// platform answers to a contract that has it already is nowhere promised: after a
// refusal the contract is read.
func (c *Client) SetStatus(ctx context.Context, shop platform.Shop, contract int64, status string) (platform.Detail, error) {
	d, err := c.session(shop).setStatus(ctx, contract, status)
	return d, about(err, "make contract %d %s", contract, status)
}

func (s session) setStatus(ctx context.Context, contract int64, status string) (platform.Detail, error) {
	m, ok := statusMutations[status]
	if !ok {
		return platform.Detail{}, fmt.Errorf("%q is no status of a contract", status)
	}
	var raw json.RawMessage
	lost, err := s.again(ctx, pauses(ctx), func() (err error) {
		raw, err = s.change(ctx, m[0], m[1], struct {
			Contract string `json:"contract"`
		}{gid.Of(typeContract, contract)})
		return err
	})
	if err == nil {
		return s.changed(ctx, contract, raw)
	}
	if _, refused := errors.AsType[*platform.Refusal](err); refused {
		d, unread := s.detail(ctx, contract)
		switch {
		case unread == nil && d.Status == status:
			return d, nil
		case unread != nil && lost: // it may be refused because it was done
			return platform.Detail{}, afterwards(unread)
		}
	}
	if lost {
		err = unsettled(err)
	}
	return platform.Detail{}, err
}
