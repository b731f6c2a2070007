package shopify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"reflect"
	"time"

	"github.com/Khan/genqlient/graphql"

	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/platform"
)

// maxAnswer is the largest answer that is read, in bytes.
const maxAnswer = 16 << 20

// maxKeptBuffer is the largest buffer that is kept for another answer.
const maxKeptBuffer = 1 << 20

// maxThrottled is how often one request may be throttled before the caller gets the
// error. Each time it waits for its points, and firstPause·2ⁿ in addition when the
// platform says that there are enough.
const (
	maxThrottled = 10
	firstPause   = 2 * time.Millisecond
)

// session asks one store. It is what the generated operations talk to.
type session struct {
	client *Client
	shop   platform.Shop
}

func (c *Client) session(shop platform.Shop) session { return session{c, shop} }

// MakeRequest carries out a generated operation. An answer with an error is an
// error, whatever data came with it.
func (s session) MakeRequest(ctx context.Context, req *graphql.Request, resp *graphql.Response) error {
	variables := []byte("{}")
	if req.Variables != nil {
		var err error
		if variables, err = json.Marshal(req.Variables); err != nil {
			return fmt.Errorf("encode the variables of %s: %w", req.OpName, err)
		}
	}
	errs, err := s.ask(ctx, s.client.document(req.OpName, req.Query), variables, resp.Data)
	if err != nil {
		return err
	}
	return failure(errs)
}

// document returns the document of a generated operation.
func (c *Client) document(name, text string) *document {
	if d, ok := c.documents.Load(name); ok {
		return d.(*document)
	}
	d, _ := c.documents.LoadOrStore(name, newDocument(name, text, guessCost))
	return d.(*document)
}

// answer is the envelope of every answer. Data is a pointer to a nil pointer,
// which stays nil when the answer has no data.
type answer struct {
	Data       any          `json:"data"`
	Errors     []graphError `json:"errors"`
	Extensions struct {
		Cost cost `json:"cost"`
	} `json:"extensions"`
}

// cost is what an answer says of the store's limit, in points.
type cost struct {
	Requested float64         `json:"requestedQueryCost"`
	Actual    *float64        `json:"actualQueryCost"` // nil when it was not carried out
	Throttle  *throttleStatus `json:"throttleStatus"`
}

func (a *answer) throttled() bool {
	return len(a.Errors) > 0 && a.Errors[0].Extensions.Code == codeThrottled
}

// ask sends a document when the store's limit allows it and reads the answer's
// data into data, which must be a pointer. Errors that came with data are
// returned for the caller to judge; errors without data are its error. A query
// whose answer is lost is sent again while a person waits; a mutation is not.
func (s session) ask(ctx context.Context, doc *document, variables []byte, data any) (errs []graphError, err error) {
	ctx, end := s.client.observe(ctx, doc.name)
	defer func() { end(err) }()
	if !doc.reads {
		return s.askOnce(ctx, doc, variables, data)
	}
	_, err = s.again(ctx, pauses(ctx), func() (err error) {
		errs, err = s.askOnce(ctx, doc, variables, data)
		return err
	})
	return errs, err
}

// askOnce sends a document until it is not throttled.
func (s session) askOnce(ctx context.Context, doc *document, variables []byte, data any) ([]graphError, error) {
	c := s.client
	st, err := c.store(s.shop.Domain)
	if err != nil {
		return nil, err
	}
	key, err := c.credential(ctx, s.shop)
	if err != nil {
		return nil, err
	}
	body := doc.body(variables)
	for try := range maxThrottled {
		if try > 0 {
			end := task.Yield(ctx)
			err := c.wait(ctx, firstPause<<try, firstPause<<try)
			if end(); err != nil {
				return nil, fmt.Errorf("%w: %w", platform.ErrThrottled, err)
			}
		}
		taken, err := st.bucket.take(ctx, float64(doc.cost.Load()), platform.PriorityOf(ctx))
		if err != nil {
			return nil, err
		}
		got := reflect.New(reflect.TypeOf(data))
		a := answer{Data: got.Interface()}
		err = c.post(ctx, st.endpoint, key.token, body, &a)
		st.bucket.settle(taken, a.Extensions.Cost)
		doc.learn(a.Extensions.Cost)
		charged(ctx, a.Extensions.Cost)
		switch hasData := !got.Elem().IsNil(); {
		case errors.Is(err, errThrottled), err == nil && !hasData && a.throttled():
			continue
		case errors.Is(err, errUnauthorized):
			switch again, failed := key.replace(ctx); {
			case failed != nil:
				return nil, failed
			case !again:
				return nil, err
			}
			continue
		case err != nil:
			return nil, err
		case hasData:
			reflect.ValueOf(data).Elem().Set(got.Elem().Elem())
			return a.Errors, nil
		}
		if err := failure(a.Errors); err != nil {
			c.shout(err, doc)
			return nil, err
		}
		return nil, fmt.Errorf("%w: an answer without data", platform.ErrUnknown)
	}
	return nil, fmt.Errorf("%w: %d times in a row", platform.ErrThrottled, maxThrottled)
}

// shout logs a refusal that no merchant caused: a document that is too
// expensive will never get through.
func (c *Client) shout(err error, doc *document) {
	if r, ok := errors.AsType[*platform.Refusal](err); ok && r.Code == codeMaxCost {
		c.log.Error("the platform finds a document too expensive", "operation", doc.name, "err", err)
	}
}

// errThrottled says that the answer was HTTP 429.
var errThrottled = errors.New("HTTP status 429")

// post sends one request and reads the answer. Whatever goes wrong once the
// request may have left is platform.ErrUnknown, unless the status says more.
func (c *Client) post(ctx context.Context, endpoint string, token platform.Token, body []byte, a *answer) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make a request: %w", err)
	}
	req.Header = http.Header{
		"Content-Type":           {"application/json"},
		"Accept":                 {"application/json"},
		"X-Shopify-Access-Token": {string(token)},
	}
	res, err := c.http.Do(req)
	if err != nil {
		return unknown(err)
	}
	defer func() { _ = res.Body.Close() }()
	c.checkVersion(res.Header.Get("X-Shopify-Api-Version"))
	if res.StatusCode == http.StatusTooManyRequests {
		return errThrottled
	}
	if res.StatusCode != http.StatusOK {
		return statusFailure(res.StatusCode)
	}
	buf, _ := c.buffers.Get().(*bytes.Buffer)
	if buf == nil {
		buf = new(bytes.Buffer)
	}
	defer func() {
		if buf.Cap() <= maxKeptBuffer {
			buf.Reset()
			c.buffers.Put(buf)
		}
	}()
	n, err := buf.ReadFrom(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return unknown(err)
	}
	if n > maxAnswer {
		return lasting{fmt.Errorf("%w: an answer of more than %d bytes", platform.ErrUnknown, maxAnswer)}
	}
	if err := json.Unmarshal(buf.Bytes(), a); err != nil {
		return unknown(err)
	}
	return nil
}

// checkVersion warns, once for each version, when another version of the
// interface answers than the one that was asked: a retired version is served by
// the oldest that is left.
func (c *Client) checkVersion(answered string) {
	if answered == "" || answered == c.version {
		return
	}
	if _, warned := c.versions.LoadOrStore(answered, true); !warned {
		c.log.Warn("another version of the platform's interface answers", "asked", c.version, "answered", answered)
	}
}

// pause waits for some time between two durations, or until ctx ends.
func pause(ctx context.Context, least, most time.Duration) error {
	t := time.NewTimer(least + rand.N(most-least+1)) //nolint:gosec // a pause is no secret
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
