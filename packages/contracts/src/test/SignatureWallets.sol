// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";

/// @dev A contract wallet of two owners that must both sign, like a Safe: 130 bytes.
contract SharedWallet is IERC1271 {
    address private immutable FIRST;
    address private immutable SECOND;

    constructor(address first, address second) {
        (FIRST, SECOND) = (first, second);
    }

    receive() external payable {}

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 130) return 0xffffffff;
        bool isFirst = ECDSA.recover(hash, signature[:65]) == FIRST;
        bool isSecond = ECDSA.recover(hash, signature[65:]) == SECOND;
        return isFirst && isSecond ? this.isValidSignature.selector : bytes4(0xffffffff);
    }
}

/// @dev Another vendor's delegate: the key signs a hash that names the wallet.
contract WrappingDelegate is IERC1271 {
    receive() external payable {}

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        bytes32 wrapped = keccak256(abi.encode(address(this), hash));
        bool isOwn = ECDSA.recover(wrapped, signature) == address(this);
        return isOwn ? this.isValidSignature.selector : bytes4(0xffffffff);
    }
}

/// @dev A wallet that accepts every signature and burns all gas while it looks at one.
contract BurningWallet is IERC1271 {
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        while (gasleft() > 0) {}
        return 0x1626ba7e;
    }
}

/// @dev Has EIP-3009 in name only: it accepts every authorization, and moves what it is configured to.
contract LooseToken {
    mapping(address holder => uint256) public balanceOf;
    uint256 public percent = 100;

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function setPercent(uint256 value) external {
        percent = value;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount;
        return true;
    }

    function receiveWithAuthorization(address from, address to, uint256 value, uint256, uint256, bytes32, bytes calldata)
        external
    {
        uint256 moved = value * percent / 100;
        balanceOf[from] -= moved;
        balanceOf[to] += moved;
    }
}

/// @dev Takes any call with no effect, as tokens with a fallback do, and answers `balanceOf`.
contract FallbackToken {
    mapping(address holder => uint256) public balanceOf;

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    fallback() external {}
}
