package config

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestSMSSettings(t *testing.T) {
	t.Parallel()
	good := SMS{SMSProvider: "twilio", SMSAccount: "AC" + strings.Repeat("0", 32), SMSToken: "secret", SMSFrom: "+15550001111", SMSTimeout: time.Second}
	const public = "https://subs.example.com"
	if err := good.check(public); err != nil {
		t.Errorf("a complete account: %v", err)
	}
	if err := (SMS{SMSAccount: "what is not used is not checked"}).check(""); err != nil {
		t.Errorf("without a provider: %v", err)
	}
	service := good
	service.SMSFrom = "MG" + strings.Repeat("0", 32)
	if err := service.check(public); err != nil {
		t.Errorf("a messaging service: %v", err)
	}
	for name, spoil := range map[string]func(*SMS){
		"PERENNIAL_SMS_ACCOUNT": func(s *SMS) { s.SMSAccount = "AC1" }, "PERENNIAL_SMS_TOKEN": func(s *SMS) { s.SMSToken = "" },
		"PERENNIAL_SMS_FROM": func(s *SMS) { s.SMSFrom = "5550001111" }, "SMS timeout": func(s *SMS) { s.SMSTimeout = 0 },
	} {
		bad := good
		spoil(&bad)
		if err := bad.check(public); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := good.check(""); err == nil || !strings.Contains(err.Error(), "PERENNIAL_PUBLIC_URL") {
		t.Errorf("without a public URL: %v", err)
	}
	if shown := fmt.Sprintf("%v %+v %#v", good, good, good); strings.Contains(shown, "secret") {
		t.Errorf("the token is shown: %s", shown)
	}
}
