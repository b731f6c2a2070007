// Package extensions holds what merchants put into their store's theme: a theme app
// extension, which the platform's own program pushes beside the app's configuration. The
// sandbox's storefront renders the same files.
package extensions

import (
	"embed"
	"io/fs"
)

//go:embed storefront
var files embed.FS

// Storefront returns the files of the theme app extension.
func Storefront() fs.FS {
	sub, err := fs.Sub(files, "storefront")
	if err != nil {
		panic(err) // the name is one that is embedded
	}
	return sub
}
