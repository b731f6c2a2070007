// Package htmx is the library with which pages read parts of themselves again, as its authors
// distribute it. The dashboard and the portal serve it from the program.
package htmx

import _ "embed"

// Script is version 4.0.1, minified. Its licence is 0BSD.
//
//go:embed htmx-4.0.1.min.js
var Script string
