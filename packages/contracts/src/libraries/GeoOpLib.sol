// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EfficientHashLib} from "solady/src/utils/EfficientHashLib.sol";
import {IGeoEscrow} from "../interfaces/IGeoEscrow.sol";

/// @title GeoOpLib
/// @notice EIP-712 struct hashes of everything that is signed for, or proved by, a swap. Hashing only: no storage, no domain.
/// @dev `vectors/geo-op.json` holds values that this library and the TypeScript side must both reproduce.
library GeoOpLib {
    bytes32 internal constant DELIVERY_TYPEHASH = keccak256(
        "Delivery(bytes32 ring,uint256 index,uint256 destinationChain,bytes32 vault,bytes32 outputToken,uint256 minOutput,bytes32 recipient,uint256 fillDeadline)"
    );

    bytes32 internal constant GEO_OP_TYPEHASH = keccak256(
        "GeoOp(address wallet,address inputToken,uint256 inputAmount,uint256 index,uint256 opDeadline,uint256 refundDeadline,address locker,Delivery delivery)Delivery(bytes32 ring,uint256 index,uint256 destinationChain,bytes32 vault,bytes32 outputToken,uint256 minOutput,bytes32 recipient,uint256 fillDeadline)"
    );

    bytes32 internal constant CLAIMS_TYPEHASH = keccak256("Claims(bytes32[] ops)");

    bytes32 internal constant REFUND_TYPEHASH = keccak256("Refund(bytes32 op,uint256 validUntil)");

    bytes32 internal constant WITHDRAW_TYPEHASH =
        keccak256("Withdraw(address owner,address token,address to,uint256 nonce,uint256 deadline)");

    /// @dev hashStruct(GeoOp). The delivery is already its own struct hash, which is how EIP-712 encodes a nested struct.
    function hashOp(IGeoEscrow.Op calldata op, address locker) internal pure returns (bytes32) {
        return EfficientHashLib.hash(
            GEO_OP_TYPEHASH,
            _toWord(op.wallet),
            _toWord(op.inputToken),
            bytes32(op.inputAmount),
            bytes32(op.index),
            bytes32(op.opDeadline),
            bytes32(op.refundDeadline),
            _toWord(locker),
            op.delivery
        );
    }

    /// @dev hashStruct(Delivery) of a payment that `vault` makes on this chain. Addresses are left-padded to 32 bytes.
    function hashDelivery(
        bytes32 ring,
        uint256 index,
        address vault,
        address outputToken,
        uint256 minOutput,
        address recipient,
        uint256 fillDeadline
    ) internal view returns (bytes32) {
        return EfficientHashLib.hash(
            DELIVERY_TYPEHASH,
            ring,
            bytes32(index),
            bytes32(block.chainid),
            _toWord(vault),
            _toWord(outputToken),
            bytes32(minOutput),
            _toWord(recipient),
            bytes32(fillDeadline)
        );
    }

    /// @dev hashStruct(Claims): an array of bytes32 is encoded as the hash of its concatenated items.
    function hashClaims(bytes32[] memory ops) internal pure returns (bytes32) {
        return EfficientHashLib.hash(CLAIMS_TYPEHASH, EfficientHashLib.hash(ops));
    }

    /// @dev hashStruct(Refund).
    function hashRefund(bytes32 op, uint256 validUntil) internal pure returns (bytes32) {
        return keccak256(abi.encode(REFUND_TYPEHASH, op, validUntil));
    }

    /// @dev hashStruct(Withdraw).
    function hashWithdraw(address owner, address token, address to, uint256 nonce, uint256 deadline)
        internal
        pure
        returns (bytes32)
    {
        return keccak256(abi.encode(WITHDRAW_TYPEHASH, owner, token, to, nonce, deadline));
    }

    /// @dev An address as EIP-712 and Delivery encode it: left-padded to 32 bytes.
    function _toWord(address account) private pure returns (bytes32) {
        return bytes32(uint256(uint160(account)));
    }
}
