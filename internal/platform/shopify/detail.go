package shopify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/perennialhq/perennial/internal/base/gid"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/shopify/admin"
)

// fulfilmentField is the field of an order that some apps have no right to read.
const fulfilmentField = "fulfillmentOrders"

// Detail reads a contract with all its lines, however many pages they take. All
// pages are of one revision.
func (c *Client) Detail(ctx context.Context, shop platform.Shop, contract int64) (platform.Detail, error) {
	d, err := c.session(shop).detail(ctx, contract)
	return d, about(err, "read contract %d", contract)
}

// detailsAtOnce is how many contracts one document asks for with all that is shown of
// them: few enough to stay under the limit of a document, 1000 points, if the platform
// counts each of them.
const detailsAtOnce = 3

// Details reads contracts as Detail does.
func (c *Client) Details(ctx context.Context, shop platform.Shop, contracts []int64) ([]platform.Detail, error) {
	if len(contracts) > platform.MaxIDs {
		return nil, fmt.Errorf("read %d contracts at once: at most %d", len(contracts), platform.MaxIDs)
	}
	s := c.session(shop)
	details := make([]platform.Detail, 0, len(contracts))
	for some := range slices.Chunk(contracts, detailsAtOnce) {
		pages, err := s.detailNodes(ctx, some)
		if err != nil {
			return nil, about(err, "read %d contracts", len(some))
		}
		for _, page := range pages {
			d, err := s.wholeDetail(ctx, gid.Number(page.contract.Id), page)
			if errors.Is(err, platform.ErrNotFound) {
				continue // gone since the first page was read
			}
			if err != nil {
				return nil, about(err, "read contract %s", page.contract.Id)
			}
			details = append(details, d)
		}
	}
	return details, nil
}

// detailNodes reads the contracts that exist, each with one page of its lines.
func (s session) detailNodes(ctx context.Context, contracts []int64) ([]detailNode, error) {
	ids := make([]string, len(contracts))
	for i, id := range contracts {
		ids[i] = gid.Of(typeContract, id)
	}
	var got struct {
		Nodes []json.RawMessage `json:"nodes"`
	}
	if err := s.nodes(ctx, "Details", admin.Details_Operation, ids, &got); err != nil {
		return nil, err
	}
	if len(got.Nodes) != len(ids) {
		return nil, errNodes(len(got.Nodes), len(ids))
	}
	var pages []detailNode
	for _, raw := range got.Nodes {
		if isNull(raw) {
			continue
		}
		page, err := readDetail(raw)
		if err != nil {
			return nil, err
		}
		pages = append(pages, page)
	}
	return pages, nil
}

func (s session) detail(ctx context.Context, contract int64) (platform.Detail, error) {
	page, err := s.detailPage(ctx, contract, "")
	if err != nil {
		return platform.Detail{}, err
	}
	return s.wholeDetail(ctx, contract, page)
}

// detailPage reads a contract with one page of its lines.
func (s session) detailPage(ctx context.Context, contract int64, after string) (detailNode, error) {
	variables, err := json.Marshal(struct {
		ID    string `json:"id"`
		After string `json:"after,omitempty"`
	}{gid.Of(typeContract, contract), after})
	if err != nil {
		return detailNode{}, fmt.Errorf("encode variables: %w", err)
	}
	var data struct {
		Contract json.RawMessage `json:"subscriptionContract"`
	}
	errs, err := s.ask(ctx, s.client.document("Detail", admin.Detail_Operation), variables, &data)
	if err == nil {
		err = failure(besidesRights(errs))
	}
	if err != nil {
		return detailNode{}, err
	}
	if isNull(data.Contract) {
		return detailNode{}, platform.ErrNotFound
	}
	return readDetail(data.Contract)
}

// besidesRights leaves out the errors that say that the app may not read what
// only some apps need.
func besidesRights(errs []graphError) []graphError {
	var rest []graphError
	for _, e := range errs {
		if e.Extensions.Code != codeAccessDenied || e.Path.leaf != fulfilmentField {
			rest = append(rest, e)
		}
	}
	return rest
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || bytes.Equal(raw, []byte("null")) }

// wholeDetail turns a contract into ours and reads the rest of its lines.
func (s session) wholeDetail(ctx context.Context, contract int64, page detailNode) (platform.Detail, error) {
	for range maxRestarts {
		whole := page
		lines := page.lines
		for page.more() {
			var err error
			if page, err = s.detailPage(ctx, contract, page.Lines.PageInfo.EndCursor); err != nil {
				return platform.Detail{}, err
			}
			if page.contract.RevisionId != whole.contract.RevisionId {
				break
			}
			lines = append(lines, page.lines...)
		}
		if page.contract.RevisionId == whole.contract.RevisionId {
			return newDetail(whole, lines)
		}
		var err error
		if page, err = s.detailPage(ctx, contract, ""); err != nil {
			return platform.Detail{}, err
		}
	}
	return platform.Detail{}, fmt.Errorf("%w: the contract changes faster than it can be read", platform.ErrUnknown)
}

// changed returns the contract that a change was answered with. When the rest of
// its lines cannot be read the change has been made all the same, so that the
// error is platform.ErrUnknown whatever it was.
func (s session) changed(ctx context.Context, contract int64, raw json.RawMessage) (platform.Detail, error) {
	page, err := readDetail(raw)
	if err != nil {
		return platform.Detail{}, err
	}
	if contract == 0 {
		contract = gid.Number(page.contract.Id)
	}
	d, err := s.wholeDetail(ctx, contract, page)
	if err != nil && !errors.Is(err, platform.ErrUnknown) {
		err = fmt.Errorf("%w: it was changed and cannot be read: %w", platform.ErrUnknown, err)
	}
	return d, err
}
