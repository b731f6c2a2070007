// Package maildns checks the DNS records by which receivers recognise the sender of an e-mail, and says
// what to do about those that are missing or wrong. It changes none, and sends nothing.
package maildns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
)

// Resolver asks DNS. A *net.Resolver is one.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
	LookupMX(ctx context.Context, name string) ([]*net.MX, error)
}

// Sender is who sends.
type Sender struct {
	Domain   string // of the address that e-mails come from
	Selector string // of the DKIM key with which the mail server signs; empty: it is not known
}

// SenderOf returns the sender of an e-mail address.
func SenderOf(address, selector string) Sender {
	_, domain, _ := strings.Cut(address, "@")
	return Sender{strings.ToLower(domain), selector}
}

// State is the result of a check.
type State string

// The results. NotChecked says that something else kept the check from being made.
const (
	OK         State = "ok"
	Warning    State = "warning"
	Failed     State = "failed"
	NotChecked State = "not checked"
)

// Result is what the check of a record found.
type Result struct {
	Check string   // SPF, DKIM, DMARC or MX
	Type  string   // of the record: TXT or MX
	Name  string   // of the record
	Value string   // to set, with a description in angle brackets where only the mail server's operator knows it
	Is    []string // what is there
	State State
	Found string
	Do    string // what to do; empty: nothing
}

func (r Result) ok(format string, args ...any) Result {
	r.State, r.Found = OK, fmt.Sprintf(format, args...)
	return r
}

func (r Result) unknown(format string, args ...any) Result {
	r.State, r.Found = NotChecked, fmt.Sprintf(format, args...)
	return r
}

func (r Result) warning(do, format string, args ...any) Result {
	r.State, r.Found, r.Do = Warning, fmt.Sprintf(format, args...), do
	return r
}

func (r Result) failed(do, format string, args ...any) Result {
	r.State, r.Found, r.Do = Failed, fmt.Sprintf(format, args...), do
	return r
}

// Check checks a record of a sender.
type Check func(ctx context.Context, r Resolver, s Sender) Result

// checks are all of them, in the order of All.
var checks = []struct {
	check Check
	begin func(s Sender) Result // says which record it is
}{{SPF, spf}, {DKIM, dkim}, {DMARC, dmarc}, {MX, mx}}

// All makes all checks at once. A record about which DNS has not answered when the context ends is not
// checked, even when the resolver goes on.
func All(ctx context.Context, r Resolver, s Sender) []Result {
	type found struct {
		of int
		is Result
	}
	answers := make(chan found, len(checks))
	list := make([]Result, len(checks))
	for i, c := range checks {
		list[i] = c.begin(s).unknown("DNS has not answered in time")
		go func() { answers <- found{i, c.check(ctx, r, s)} }()
	}
	for range checks {
		select {
		case f := <-answers:
			list[f.of] = f.is
		case <-ctx.Done():
			return list
		}
	}
	return list
}

// texts returns the TXT records of a name that begin with a prefix in any letter case. The failure says
// that DNS did not answer.
func texts(ctx context.Context, r Resolver, name, prefix string) (list []string, unknown error) {
	all, err := r.LookupTXT(ctx, rooted(name))
	if absent(err) {
		return nil, nil
	}
	for _, text := range all {
		if text = strings.TrimSpace(text); strings.HasPrefix(strings.ToLower(text), prefix) {
			list = append(list, text)
		}
	}
	return list, err
}

// rooted keeps a resolver from trying a name within the machine's own domain.
func rooted(name string) string { return strings.TrimSuffix(name, ".") + "." }

// absent reports whether DNS says that there is no such record.
func absent(err error) bool {
	missing, ok := errors.AsType[*net.DNSError](err)
	return ok && missing.IsNotFound
}
