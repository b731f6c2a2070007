package config

import (
	"errors"
	"fmt"
	"regexp"
	"time"
)

// SMS says how SMS leave. Without a provider there are none.
type SMS struct {
	SMSProvider string        `help:"Provider of SMS: twilio. Leave empty to send none." name:"sms-provider" default:"" enum:",twilio" env:"PERENNIAL_SMS_PROVIDER"`
	SMSAccount  string        `help:"Account SID at the provider of SMS (AC…)." name:"sms-account" env:"PERENNIAL_SMS_ACCOUNT"`
	SMSToken    Secret        `help:"Auth token of the account. It also verifies the provider's requests." name:"sms-token" env:"PERENNIAL_SMS_TOKEN"`
	SMSFrom     string        `help:"Sender of SMS: phone number with country code, or SID of a messaging service (MG…)." name:"sms-from" env:"PERENNIAL_SMS_FROM"`
	SMSTimeout  time.Duration `help:"Timeout of a request to the provider of SMS." name:"sms-timeout" default:"10s" env:"PERENNIAL_SMS_TIMEOUT"`
	SMSURL      string        `help:"URL of the provider's API." name:"sms-url" default:"https://api.twilio.com" hidden:"" env:"PERENNIAL_SMS_URL"`
}

var (
	smsAccount = regexp.MustCompile(`^AC[0-9A-Za-z]{32}$`)
	smsFrom    = regexp.MustCompile(`^(\+[1-9][0-9]{6,14}|MG[0-9A-Za-z]{32})$`)
)

// check says what is wrong with the settings. public is the address at which the provider reaches the
// service.
func (s SMS) check(public string) error {
	if s.SMSProvider == "" {
		return nil
	}
	switch {
	case !smsAccount.MatchString(s.SMSAccount):
		return fmt.Errorf("SMS account: set PERENNIAL_SMS_ACCOUNT to the account SID, AC and 32 digits or letters; %q is none", s.SMSAccount)
	case s.SMSToken == "":
		return errors.New("SMS token: set PERENNIAL_SMS_TOKEN to the auth token of the account")
	case !smsFrom.MatchString(s.SMSFrom):
		return fmt.Errorf("SMS from: set PERENNIAL_SMS_FROM to a phone number such as +15550001111, or to the SID of a messaging service (MG…); %q is neither", s.SMSFrom)
	case public == "":
		return errors.New("SMS provider: set PERENNIAL_PUBLIC_URL; the provider delivers answers such as STOP there")
	case s.SMSTimeout <= 0:
		return errors.New("SMS timeout must be positive")
	}
	return nil
}
