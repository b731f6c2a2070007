// Package call sends the requests of every operation and reads their answers.
package call

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"
)

// Caller calls the operations of one interface.
type Caller struct {
	HTTP      *http.Client
	base      string
	authorize func(*http.Request)
}

// Option changes how requests are sent.
type Option func(*Caller)

// New returns a caller for the interface at base. Authorize adds the caller's credentials.
func New(base string, authorize func(*http.Request), options []Option) *Caller {
	c := &Caller{HTTP: http.DefaultClient, base: strings.TrimSuffix(base, "/"), authorize: authorize}
	for _, o := range options {
		o(c)
	}
	return c
}

// Path fills values into a path.
func Path(format string, values ...any) string {
	escaped := make([]any, len(values))
	for i, v := range values {
		escaped[i] = url.PathEscape(fmt.Sprint(v))
	}
	return fmt.Sprintf(format, escaped...)
}

// Do calls an operation. Params is nil or a pointer to a struct of the query's parameters,
// body is nil or what is sent as JSON. An empty answer is the zero value of T.
func Do[T any](ctx context.Context, c *Caller, method, path string, params, body any) (T, error) {
	var answer T
	text, err := c.send(ctx, method, path, params, body)
	if err != nil || len(bytes.TrimSpace(text)) == 0 {
		return answer, err
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return answer, fmt.Errorf("read the answer to %s %s: %w", method, path, err)
	}
	return answer, nil
}

func (c *Caller) send(ctx context.Context, method, path string, params, body any) ([]byte, error) {
	var in io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		in = bytes.NewReader(text)
	}
	address := c.base + path
	if query := Query(params).Encode(); query != "" {
		address += "?" + query
	}
	r, err := http.NewRequestWithContext(ctx, method, address, in)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if key, ok := ctx.Value(idempotencyKey{}).(string); ok {
		r.Header.Set("Idempotency-Key", key)
	}
	c.authorize(r)
	response, err := c.HTTP.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	if header, ok := ctx.Value(headerOf{}).(*http.Header); ok {
		*header = response.Header
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read the answer to %s %s: %w", method, path, err)
	}
	if response.StatusCode >= 300 {
		return nil, failure(response, text)
	}
	return text, nil
}

type (
	idempotencyKey struct{}
	headerOf       struct{}
)

// WithIdempotencyKey makes the calls under ctx carry the key.
func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, idempotencyKey{}, key)
}

// WithHeader makes the calls under ctx write the headers of their answers to header.
func WithHeader(ctx context.Context, header *http.Header) context.Context {
	return context.WithValue(ctx, headerOf{}, header)
}

// Query writes a struct of parameters. A field's tag form has its name; a list is written
// as one value with commas, or as several where the tag explode says so.
func Query(params any) url.Values {
	query := url.Values{}
	s := reflect.Indirect(reflect.ValueOf(params))
	if !s.IsValid() {
		return query
	}
	for i := range s.NumField() {
		field, value := s.Type().Field(i), reflect.Indirect(s.Field(i))
		name, option, _ := strings.Cut(field.Tag.Get("form"), ",")
		switch {
		case !value.IsValid(), value.Kind() == reflect.Slice && value.Len() == 0 && option == "omitempty":
		case value.Kind() == reflect.Slice && field.Tag.Get("explode") != "":
			for j := range value.Len() {
				query.Add(name, write(value.Index(j)))
			}
		case value.Kind() == reflect.Slice:
			list := make([]string, value.Len())
			for j := range list {
				list[j] = write(value.Index(j))
			}
			query.Set(name, strings.Join(list, ","))
		default:
			query.Set(name, write(value))
		}
	}
	return query
}

func write(v reflect.Value) string {
	if at, ok := v.Interface().(time.Time); ok {
		return at.Format(time.RFC3339Nano)
	}
	return fmt.Sprint(v.Interface())
}
