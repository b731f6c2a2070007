package maildns

import (
	"context"
	"slices"
	"strings"
)

func spf(s Sender) Result {
	return Result{Check: "SPF", Type: "TXT", Name: s.Domain, Value: "v=spf1 <what your mail server's operator names> -all"}
}

// SPF checks that the domain says which servers send its e-mails.
func SPF(ctx context.Context, r Resolver, s Sender) Result {
	is := spf(s)
	found, err := texts(ctx, r, s.Domain, "v=spf1")
	is.Is = found
	switch {
	case err != nil:
		return is.unknown("DNS does not answer: %v", err)
	case len(found) == 0:
		return is.warning("add a TXT record to "+s.Domain+": \"v=spf1 …\" with what your mail server's operator names, ending in -all or ~all", "%s has no SPF record: receivers may refuse the e-mails", s.Domain)
	case len(found) > 1:
		return is.failed("make one record of them: receivers treat several as an error", "%s has %d SPF records", s.Domain, len(found))
	}
	terms := strings.Fields(strings.ToLower(found[0]))
	if slices.Contains(terms, "+all") || slices.Contains(terms, "all") {
		return is.warning("end the record in -all or ~all", "the SPF record of %s lets every server send in its name", s.Domain)
	}
	if len(terms) == 2 && terms[1] == "-all" {
		return is.failed("name the mail server in the record", "the SPF record of %s says that no server sends its e-mails", s.Domain)
	}
	return is.ok("%s has an SPF record", s.Domain)
}

func dkim(s Sender) Result {
	selector := s.Selector
	if selector == "" {
		selector = "<selector>"
	}
	return Result{Check: "DKIM", Type: "TXT", Name: selector + "._domainkey." + s.Domain, Value: "v=DKIM1; p=<key of your mail server>"}
}

// DKIM checks that the key with which the mail server signs is published.
func DKIM(ctx context.Context, r Resolver, s Sender) Result {
	is := dkim(s)
	if s.Selector == "" {
		return is.unknown("PERENNIAL_MAIL_DKIM_SELECTOR does not name the selector with which the mail server signs")
	}
	const do = "publish the key that your mail server's operator names, or correct PERENNIAL_MAIL_DKIM_SELECTOR"
	found, err := texts(ctx, r, is.Name, "")
	is.Is = found
	switch {
	case err != nil:
		return is.unknown("DNS does not answer: %v", err)
	case len(found) == 0:
		return is.failed(do, "%s has no DKIM key", is.Name)
	}
	for _, tag := range tags(strings.Join(found, "")) {
		if key, has := strings.CutPrefix(tag, "p="); has && key != "" {
			return is.ok("%s has a DKIM key", is.Name)
		}
	}
	return is.failed(do, "the DKIM key of %s is revoked or unreadable", is.Name)
}

func dmarc(s Sender) Result {
	return Result{Check: "DMARC", Type: "TXT", Name: "_dmarc." + s.Domain, Value: "v=DMARC1; p=none"}
}

// DMARC checks that the domain, or the one above it, says what receivers do about e-mails that are not
// authenticated.
func DMARC(ctx context.Context, r Resolver, s Sender) Result {
	is := dmarc(s)
	for at := s.Domain; strings.Contains(at, "."); _, at, _ = strings.Cut(at, ".") {
		found, err := texts(ctx, r, "_dmarc."+at, "v=dmarc1")
		is.Is = found
		switch {
		case err != nil:
			return is.unknown("DNS does not answer: %v", err)
		case len(found) > 1:
			return is.failed("make one record of them: receivers ignore several", "_dmarc.%s has %d DMARC records", at, len(found))
		case len(found) == 0:
			continue
		}
		if !slices.ContainsFunc(tags(found[0]), func(t string) bool { return strings.HasPrefix(t, "p=") }) {
			return is.failed("add p=none, p=quarantine or p=reject to the record", "the DMARC record of %s names no policy", at)
		}
		return is.ok("%s has a DMARC record", at)
	}
	return is.warning("add a TXT record to "+is.Name+", such as \"v=DMARC1; p=none\"", "%s has no DMARC record: large receivers refuse the e-mails of senders without one", s.Domain)
}

// tags splits a record of DKIM or DMARC.
func tags(record string) []string {
	list := strings.Split(strings.ToLower(record), ";")
	for i, t := range list {
		list[i] = strings.ReplaceAll(strings.TrimSpace(t), " ", "")
	}
	return list
}

func mx(s Sender) Result {
	return Result{Check: "MX", Type: "MX", Name: s.Domain, Value: "10 <server that takes e-mails for the domain>"}
}

// MX checks that the domain takes e-mails: replies of customers, and reports of what was not delivered.
func MX(ctx context.Context, r Resolver, s Sender) Result {
	is := mx(s)
	found, err := r.LookupMX(ctx, rooted(s.Domain))
	if absent(err) {
		err = nil
	}
	none := false
	for _, server := range found {
		none = none || server.Host == "." // RFC 7505
		is.Is = append(is.Is, strings.TrimSuffix(server.Host, "."))
	}
	switch {
	case err != nil:
		return is.unknown("DNS does not answer: %v", err)
	case none:
		is.Is = []string{"."}
		return is.failed("replace the record with the name of a server that takes the domain's e-mails", "the MX record of %s says that it takes no e-mails: receivers may refuse those that come from it", s.Domain)
	case len(found) == 0:
		return is.warning("add an MX record to "+s.Domain+" with the name of a server that takes its e-mails", "%s has no MX record: replies and reports of what was not delivered are lost", s.Domain)
	}
	return is.ok("%s takes e-mails", s.Domain)
}
