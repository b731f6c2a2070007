package shopify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/admin"
	"github.com/perennialhq/perennial/internal/platform/shopify/wire"
)

// codeCommitted is the platform's refusal to commit a draft a second time.
const codeCommitted = "COMMITTED"

// EditContract opens a draft, changes it and commits it: three requests, unless
// the edit is large. A refusal of any of them leaves the contract as it was.
func (c *Client) EditContract(ctx context.Context, shop platform.Shop, contract int64, e platform.Edit) (platform.Detail, error) {
	d, err := c.session(shop).editContract(ctx, contract, &e)
	return d, about(err, "edit contract %d", contract)
}

func (s session) editContract(ctx context.Context, contract int64, e *platform.Edit) (platform.Detail, error) {
	ops := draftOps(e)
	if len(ops) == 0 {
		return s.detail(ctx, contract)
	}
	got, err := admin.OpenDraft(ctx, s, gid.Of(typeContract, contract))
	if err != nil {
		return platform.Detail{}, err
	}
	if got.Draft == nil {
		return platform.Detail{}, errNoPayload()
	}
	draft, err := opened(got.Draft.Draft, got.Draft.UserErrors)
	if err != nil {
		return platform.Detail{}, err
	}
	if err := s.changeDraft(ctx, draft, ops); err != nil {
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

// afterwards turns a failure to read what was changed into platform.ErrUnknown:
// no other error may be taken for "nothing was done".
func afterwards(err error) error {
	if err == nil || errors.Is(err, platform.ErrUnknown) {
		return err
	}
	return fmt.Errorf("%w: it was changed and cannot be read: %w", platform.ErrUnknown, err)
}

// opened returns the id of a draft that was asked for.
func opened(d *admin.Draft, errs []wire.UserError) (string, error) {
	if r, ok := refused(errs); ok {
		return "", r
	}
	if d == nil {
		return "", errNoPayload()
	}
	return d.Id, nil
}

// commit makes a draft's changes live and returns what they made. Nobody else
// knows the draft: when the answer is lost a second request tells what became of
// the first. It returns null when that one had done it.
func (s session) commit(ctx context.Context, name, text, draft string) (json.RawMessage, error) {
	raw, err := s.change(ctx, name, text, struct {
		Draft string `json:"draft"`
	}{draft})
	if !errors.Is(err, platform.ErrUnknown) || ctx.Err() != nil {
		return raw, err
	}
	raw, err = s.change(ctx, name, text, struct {
		Draft string `json:"draft"`
	}{draft})
	if r, ok := errors.AsType[*platform.Refusal](err); ok {
		if r.Code == codeCommitted {
			return nil, nil
		}
		return nil, r
	}
	if err != nil {
		return nil, afterwards(err)
	}
	return raw, nil
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

// SetStatus gives a contract a status. What the platform answers to a contract
// that has it already is nowhere promised: after a refusal the contract is read.
func (c *Client) SetStatus(ctx context.Context, shop platform.Shop, contract int64, status string) (platform.Detail, error) {
	d, err := c.session(shop).setStatus(ctx, contract, status)
	return d, about(err, "make contract %d %s", contract, status)
}

func (s session) setStatus(ctx context.Context, contract int64, status string) (platform.Detail, error) {
	m, ok := statusMutations[status]
	if !ok {
		return platform.Detail{}, fmt.Errorf("%q is no status of a contract", status)
	}
	raw, err := s.change(ctx, m[0], m[1], struct {
		Contract string `json:"contract"`
	}{gid.Of(typeContract, contract)})
	if err == nil {
		return s.changed(ctx, contract, raw)
	}
	if _, refused := errors.AsType[*platform.Refusal](err); refused {
		if d, now := s.detail(ctx, contract); now == nil && d.Status == status {
			return d, nil
		}
	}
	return platform.Detail{}, err
}
