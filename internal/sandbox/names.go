package sandbox

import (
	"context"
	"net"
)

// names is what DNS says in the sandbox, whatever the machine's network: the sender's domain has a
// DKIM key and takes e-mails, has an SPF record that is too wide, and no DMARC record.
type names struct{}

// dkimSelector is that of the key with which the sandbox would sign.
const dkimSelector = "sandbox"

// LookupTXT returns the texts of a name.
func (names) LookupTXT(_ context.Context, name string) ([]string, error) {
	switch name {
	case "sandbox.example.":
		return []string{"v=spf1 +all"}, nil
	case dkimSelector + "._domainkey.sandbox.example.":
		return []string{"v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="}, nil
	}
	return nil, notFound(name)
}

// LookupMX returns the servers that take the e-mails of a domain.
func (names) LookupMX(_ context.Context, name string) ([]*net.MX, error) {
	if name == "sandbox.example." {
		return []*net.MX{{Host: "mx.sandbox.example.", Pref: 10}}, nil
	}
	return nil, notFound(name)
}

func notFound(name string) error {
	return &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}
