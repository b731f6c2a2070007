package web

// Headers and parameters of requests and answers.
const (
	keyHeader       = "X-API-Key"
	keyParam        = "api_key" // deprecated: send the header
	appKeyHeader    = "X-App-Key"
	repeatHeader    = "Idempotency-Key"
	replayedHeader  = "Idempotent-Replayed" // the answer is that of an earlier request
	requestIDHeader = "X-Request-Id"
)

// keyParamDeprecated is the date since which the parameter with a key is deprecated
// (2025-01-01), as the Deprecation header writes it.
const keyParamDeprecated = "@1735689600"

// Media types that the interfaces speak.
const (
	mediaJSON    = "application/json"
	mediaForm    = "application/x-www-form-urlencoded"
	mediaProblem = "application/problem+json"
)
