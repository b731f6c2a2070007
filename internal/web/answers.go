package web

import "net/http"

// answerNote says in the document when an operation answers a status.
func answerNote(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "A parameter or a field is missing or not valid, or a rule of the store or of the platform does not allow the operation now. errorKey says which rule, params which parameter or field."
	case http.StatusUnauthorized:
		return "The request names no caller, or one that is not known, was revoked or has expired."
	case http.StatusForbidden:
		return "The caller is known and may not do this: required lists the scopes that the operation needs."
	case http.StatusNotFound:
		return "The caller's store has nothing by that id. What belongs to another store is not found either."
	case http.StatusGone:
		return "It was there, and is no longer kept."
	case http.StatusConflict:
		return "Another change is under way, or the object has changed meanwhile. Read it again, or send the same request after Retry-After."
	case http.StatusRequestEntityTooLarge:
		return "The body is larger than 1 MiB."
	case http.StatusUnsupportedMediaType:
		return "The body has a Content-Encoding, or a Content-Type that is not application/json."
	case http.StatusUnprocessableEntity:
		return "The Idempotency-Key was sent before with another query or body."
	case http.StatusFailedDependency:
		return "A system of the caller's, which the service had to ask, did not do its part."
	case http.StatusTooManyRequests:
		return "The rate limit is used up: wait as long as Retry-After says. Nothing was done."
	case http.StatusInternalServerError:
		return "Something is wrong on the service's side. requestId identifies the request in its log."
	case http.StatusServiceUnavailable:
		return "Something that the service depends on, such as the platform, does not answer. Send the same request again after Retry-After."
	}
	return http.StatusText(status)
}
