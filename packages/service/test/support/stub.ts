export { stub } from '@geoswap/protocol/test/stub'
