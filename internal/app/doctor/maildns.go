package doctor

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
)

// sender returns the domain of the sender's address, or why there is none to check.
func sender(c *checkup) (domain string, none Finding) {
	_, domain, _ = strings.Cut(c.Settings.Mail.MailFrom, "@")
	if c.Settings.Mail.MailHost == "" || domain == "" {
		return "", notChecked("no mail server is set")
	}
	return strings.ToLower(domain), Finding{}
}

// records returns the TXT records of a name that begin with a prefix, in lower case.
// unknown says that DNS did not answer.
func records(ctx context.Context, c *checkup, name, prefix string) (found []string, unknown error) {
	all, err := c.Resolver.LookupTXT(ctx, strings.TrimSuffix(name, ".")+".")
	if missing, ok := errors.AsType[*net.DNSError](err); ok && missing.IsNotFound {
		return nil, nil
	}
	for _, text := range all {
		if text = strings.ToLower(strings.TrimSpace(text)); strings.HasPrefix(text, prefix) {
			found = append(found, text)
		}
	}
	return found, err
}

// mailSPF checks that the sender's domain says which servers send its e-mails.
func mailSPF(ctx context.Context, c *checkup) Finding {
	domain, none := sender(c)
	if domain == "" {
		return none
	}
	found, err := records(ctx, c, domain, "v=spf1")
	switch {
	case err != nil:
		return notChecked("DNS does not answer: %v", err)
	case len(found) == 0:
		return warning("add a TXT record to "+domain+": \"v=spf1 …\" with what your mail server's operator names, ending in -all or ~all", "%s has no SPF record: receivers may refuse the e-mails", domain)
	case len(found) > 1:
		return failed("make one record of them: receivers treat several as an error", "%s has %d SPF records", domain, len(found))
	}
	terms := strings.Fields(found[0])
	if slices.Contains(terms, "+all") || slices.Contains(terms, "all") {
		return warning("end the record in -all or ~all", "the SPF record of %s lets every server send in its name", domain)
	}
	if len(terms) == 2 && terms[1] == "-all" {
		return failed("name the mail server in the record", "the SPF record of %s says that no server sends its e-mails", domain)
	}
	return ok("%s has an SPF record", domain)
}

// mailDKIM checks that the key with which the mail server signs is published.
func mailDKIM(ctx context.Context, c *checkup) Finding {
	domain, none := sender(c)
	if domain == "" {
		return none
	}
	selector := c.Doctor.DKIMSelector
	if selector == "" {
		return notChecked("PERENNIAL_MAIL_DKIM_SELECTOR does not name the selector with which the mail server signs")
	}
	name := selector + "._domainkey." + domain
	const do = "publish the key that your mail server's operator names, or correct PERENNIAL_MAIL_DKIM_SELECTOR"
	found, err := records(ctx, c, name, "")
	switch {
	case err != nil:
		return notChecked("DNS does not answer: %v", err)
	case len(found) == 0:
		return failed(do, "%s has no DKIM key", name)
	}
	for _, tag := range tags(strings.Join(found, "")) {
		if key, has := strings.CutPrefix(tag, "p="); has && key != "" {
			return ok("%s has a DKIM key", name)
		}
	}
	return failed(do, "the DKIM key of %s is revoked or unreadable", name)
}

// mailDMARC checks that the domain, or the one above it, says what receivers do about
// e-mails that are not authenticated.
func mailDMARC(ctx context.Context, c *checkup) Finding {
	domain, none := sender(c)
	if domain == "" {
		return none
	}
	for at := domain; strings.Contains(at, "."); _, at, _ = strings.Cut(at, ".") {
		found, err := records(ctx, c, "_dmarc."+at, "v=dmarc1")
		switch {
		case err != nil:
			return notChecked("DNS does not answer: %v", err)
		case len(found) > 1:
			return failed("make one record of them: receivers ignore several", "_dmarc.%s has %d DMARC records", at, len(found))
		case len(found) == 0:
			continue
		}
		if !slices.ContainsFunc(tags(found[0]), func(t string) bool { return strings.HasPrefix(t, "p=") }) {
			return failed("add p=none, p=quarantine or p=reject to the record", "the DMARC record of %s names no policy", at)
		}
		return ok("%s has a DMARC record", at)
	}
	return warning("add a TXT record to _dmarc."+domain+", such as \"v=DMARC1; p=none\"", "%s has no DMARC record: large receivers refuse the e-mails of senders without one", domain)
}

// tags splits a record of DKIM or DMARC.
func tags(record string) []string {
	list := strings.Split(record, ";")
	for i, t := range list {
		list[i] = strings.ReplaceAll(strings.TrimSpace(t), " ", "")
	}
	return list
}
