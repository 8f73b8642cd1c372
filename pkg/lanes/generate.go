package lanes

//go:generate go -C ../../tools/lanes run . -out ../../pkg/lanes/lanes_amd64.s -stubs ../../pkg/lanes/stubs_amd64.go -pkg lanes
