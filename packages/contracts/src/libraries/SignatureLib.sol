// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ECDSA} from "solady/src/utils/ECDSA.sol";

/// @title SignatureLib
/// @notice Recovers the signer, and accepts each signature in one form only: the upper half of `s` is refused.
library SignatureLib {
    /// @dev Half of secp256k1's order: the largest `s` that EIP-2 allows.
    uint256 private constant MAX_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    /// @dev The signer of an EIP-2098 signature, or the zero address, which callers must never accept.
    function signer(bytes32 digest, bytes32 r, bytes32 vs) internal view returns (address) {
        if (uint256(vs) << 1 >> 1 > MAX_S) return address(0);
        return ECDSA.tryRecover(digest, r, vs);
    }

    /// @dev The EIP-2098 signature at `position` of a row of them. The caller has checked the length. Equivalent Solidity:
    ///      r = bytes32(signatures[position * 64:]); vs = bytes32(signatures[position * 64 + 32:]);
    function at(bytes calldata signatures, uint256 position) internal pure returns (bytes32 r, bytes32 vs) {
        assembly ("memory-safe") {
            let start := add(signatures.offset, shl(6, position))
            r := calldataload(start)
            vs := calldataload(add(start, 0x20))
        }
    }

    /// @dev The signer of a 65-byte (r, s, v) or 64-byte (r, vs) signature, or the zero address.
    function signer(bytes32 digest, bytes calldata signature) internal view returns (address) {
        if (signature.length == 64) return signer(digest, bytes32(signature[:32]), bytes32(signature[32:]));
        if (signature.length != 65) return address(0);
        bytes32 s = bytes32(signature[32:64]);
        if (uint256(s) > MAX_S) return address(0);
        return ECDSA.tryRecover(digest, uint8(signature[64]), bytes32(signature[:32]), s);
    }
}
