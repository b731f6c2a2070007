// Package roomtest holds the tests of the portal's shell and rooms. They are one package, so that one
// test binary links the database.
package roomtest
