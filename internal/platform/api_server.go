package platform

import (
	"net/netip"
	"slices"

	discoveryv1 "k8s.io/api/discovery/v1"
)

// APIServerService is the Service in namespace default that leads to the API server.
const APIServerService = "kubernetes"

// APIServerAddresses are the addresses behind that Service, from its EndpointSlices, in
// order.
func APIServerAddresses(list []discoveryv1.EndpointSlice) []netip.AddrPort {
	var addresses []netip.AddrPort
	for _, slice := range list {
		for _, port := range slice.Ports {
			if port.Port == nil {
				continue
			}
			for _, endpoint := range slice.Endpoints {
				for _, text := range endpoint.Addresses {
					if address, err := netip.ParseAddr(text); err == nil {
						addresses = append(addresses, netip.AddrPortFrom(address, uint16(*port.Port))) //nolint:gosec // G115: the API server lets no other number pass for a port
					}
				}
			}
		}
	}
	slices.SortFunc(addresses, netip.AddrPort.Compare)
	return slices.Compact(addresses)
}
